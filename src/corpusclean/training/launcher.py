"""What training launchers are told: argument files and fragments that fit the shards.

`megatron.args` and `mindspeed.args` hold one option a line, for
`torchrun pretrain_gpt.py $(cat launcher/megatron.args)`, started in the output folder; the model
and how it is parallelised are the user's to add. Megatron's loader must not undo the plan: each
shard is weighed by its tokens, so many samples are asked that no token comes twice (see
`supply`), and validation has paths of its own, since Megatron hangs on a split without a document.
"""

import json
from collections.abc import Mapping
from typing import Any

from corpusclean.errors import RecipeError
from corpusclean.training.blend import Sizes, normalized
from corpusclean.training.data import output_of
from corpusclean.training.gpt_dataset import epochs_needed
from corpusclean.training.settings import TrainingSettings
from corpusclean.training.supply import MegatronSupply, megatron_supply

__all__ = ["check_split", "launcher_files", "launcher_plan", "megatron_arguments"]


def launcher_files(manifest: Mapping[str, Any], settings: TrainingSettings) -> dict[str, str]:
    """Return the text of each file in `launcher/` by its name.

    Raises RecipeError for settings that no launcher could follow: no whole step, a split that
    leaves a part of a shard empty, a path with a space.
    """
    plan = launcher_plan(manifest, settings)
    tokenizer = settings.tokenizer or manifest["tokenizer"]["name"]
    texts = {
        "training.json": json.dumps(plan, indent=1, ensure_ascii=False) + "\n",
        "megatron.args": _lines(
            megatron_arguments(plan, settings)
            | {"--tokenizer-type": "HuggingFaceTokenizer", "--tokenizer-model": tokenizer}
        ),
        "mindspeed.args": _lines(
            megatron_arguments(plan, settings)
            | {"--tokenizer-type": "PretrainedFromHF", "--tokenizer-name-or-path": tokenizer}
        ),
        "olmo_core.json": json.dumps(_olmo_core(plan, manifest, settings), indent=1) + "\n",
    }
    if not plan["validation"]:
        texts["nanotron.yaml"] = _nanotron(plan, settings, tokenizer)
    return texts


def launcher_plan(manifest: Mapping[str, Any], settings: TrainingSettings) -> dict[str, Any]:
    """Return the training as plain data: what all files say, and what the manifest may hold."""
    output = output_of(settings.directory or ".", dict(manifest))
    supply = megatron_supply(output)
    schedule = settings.schedule()
    steps = schedule.whole_steps(supply.samples)
    if steps == 0:
        raise RecipeError(
            f"training: found {supply.samples:,} samples, expected at least one batch of "
            f"{schedule.sequences(1):,}; make the batch smaller or the budget larger"
        )
    samples = schedule.trained(steps + 1)
    length = output.sequence_length
    warmup = min(round(settings.warmup_fraction * samples), samples - 1)
    return {
        "steps": steps,
        "samples": samples,
        "tokens": samples * length,
        "unread_tokens": output.tokens - samples * length,
        "sequence_length": length,
        "seed": output.seed,
        "global_batch": [
            {"from_step": s.from_step, "sequences": s.sequences, "tokens": s.sequences * length}
            for s in schedule.stages
            if s.from_step <= steps
        ],
        "learning_rate": {
            "peak": settings.learning_rate,
            "final": settings.learning_rate * settings.final_fraction,
            "decay": "cosine",
            "warmup_samples": warmup,
            "warmup_steps": schedule.whole_steps(warmup),
        },
        "clip_gradient": settings.clip_gradient,
        "weight_decay": settings.weight_decay,
        "train": [{"path": s.path, "weight": s.tokens} for s in supply.shards],
        "left_out": [{"path": s.path, "tokens": s.tokens} for s in supply.left_out],
        "blended": supply.blended,
        "split": _split(manifest, settings, supply),
    } | _validation(manifest, settings, steps)


def _split(
    manifest: Mapping[str, Any], settings: TrainingSettings, supply: MegatronSupply
) -> str | None:
    """Return the --split to pass, None where each split has paths of its own."""
    if any(shard["split"] == "validation" for shard in manifest["shards"]):
        return None
    numbers = {shard.number for shard in supply.shards}
    shards = [shard for i, shard in enumerate(manifest["shards"]) if i in numbers]
    check_split(settings.split, {shard["path"]: shard["documents"] for shard in shards})
    return settings.split


def check_split(split: str, sequences: Mapping[str, int]) -> None:
    """Raise RecipeError for a --split that Megatron cannot follow, or that takes from training.

    `sequences` is the number of sequences of each shard by its path.
    """
    try:
        parts = [float(part) for part in split.split(",")]
    except ValueError:
        parts = []
    if not 1 <= len(parts) <= 3 or min(parts) < 0 or sum(parts) <= 0:
        raise RecipeError(f"split: found {split!r}, expected up to three shares such as 100,0,0")
    ends = [sum(parts[: i + 1]) / sum(parts) for i in range(len(parts))]
    begins = [0.0, *ends[:-1]]
    for path, count in sequences.items():
        for begin, end in zip(begins, ends, strict=True):
            if begin < end and round(begin * count) == round(end * count):
                raise RecipeError(
                    f"split: {split} leaves a part of {path} ({count:,} sequences) without one, "
                    "on which Megatron hangs; use 100,0,0, and validation: in the recipe"
                )
    if ends[0] < 1:
        raise RecipeError(
            f"split: {split} takes from what the mixture gives to training; use 100,0,0, and "
            "validation: in the recipe for a set that is held out"
        )


def _validation(
    manifest: Mapping[str, Any], settings: TrainingSettings, steps: int
) -> dict[str, Any]:
    """Return the validation shards and how often how much of them is read."""
    shards = [shard for shard in manifest["shards"] if shard["split"] == "validation"]
    every = min(settings.evaluate_every, steps)
    said = {
        "validation": [{"path": s["path"], "weight": s["tokens"]} for s in shards],
        "evaluate_every": every,
        "evaluation_steps": 0,
    }
    if not shards:
        return said
    length = int(manifest["sequence_length"])
    tokens = [int(shard["tokens"]) for shard in shards]
    most = sum(tokens) // (length * settings.global_batch)
    for evaluation_steps in range(max(1, most), 0, -1):
        samples = (steps // every + 1) * evaluation_steps * settings.global_batch
        if len(tokens) == 1 or _holds(tokens, samples, length):
            return said | {"evaluation_steps": evaluation_steps}
    raise RecipeError(
        f"validation: Megatron cannot blend shards of {tokens} tokens at sequence length "
        f"{length}; hold out more tokens, or raise output.shard_tokens so that they are one shard"
    )


def _holds(tokens: list[int], samples: int, length: int) -> bool:
    """Tell whether each dataset of a blend makes as many samples as may be drawn from it."""
    if min(tokens) <= length:
        return False
    sizes = Sizes(normalized(tokens), samples)
    return all(
        drawn <= (epochs_needed(held, length, made, 1) * held - 1) // length
        for drawn, made, held in zip(sizes.most_drawn, sizes.made, tokens, strict=True)
    )


def megatron_arguments(
    plan: Mapping[str, Any], settings: TrainingSettings
) -> dict[str, str | list[str]]:
    """Return Megatron's options by name; a list is an option with several values."""
    blend = _blend(plan["train"], settings)
    arguments: dict[str, str | list[str]]
    if plan["validation"]:
        validation = _blend(plan["validation"], settings)
        arguments = {"--train-data-path": blend, "--valid-data-path": validation}
    else:
        arguments = {"--data-path": blend, "--split": plan["split"]}
    rate = plan["learning_rate"]
    arguments |= {
        "--seed": str(plan["seed"]),
        "--seq-length": str(plan["sequence_length"]),
        "--max-position-embeddings": str(plan["sequence_length"]),
        "--micro-batch-size": str(settings.micro_batch),
        "--global-batch-size": str(settings.global_batch),
    }
    if settings.ramp is not None:
        ramp = settings.ramp
        values = [str(value) for value in (ramp.start, ramp.increment, ramp.samples)]
        arguments["--rampup-batch-size"] = values
    return arguments | {
        "--train-samples": str(plan["samples"]),
        "--lr": repr(rate["peak"]),
        "--min-lr": repr(rate["final"]),
        "--lr-decay-style": rate["decay"],
        "--lr-decay-samples": str(plan["samples"]),
        "--lr-warmup-samples": str(rate["warmup_samples"]),
        "--clip-grad": repr(plan["clip_gradient"]),
        "--weight-decay": repr(plan["weight_decay"]),
        "--adam-beta1": repr(settings.betas[0]),
        "--adam-beta2": repr(settings.betas[1]),
        "--eval-interval": str(plan["evaluate_every"]),
        "--eval-iters": str(plan["evaluation_steps"]),
        "--dataloader-type": "single",
    }


def _path(path: str, settings: TrainingSettings) -> str:
    return f"{settings.directory.rstrip('/')}/{path}" if settings.directory else path


def _blend(shards: list[dict[str, Any]], settings: TrainingSettings) -> list[str]:
    pairs = [(str(shard["weight"]), _path(shard["path"], settings)) for shard in shards]
    return [word for pair in pairs for word in pair]


def _lines(arguments: Mapping[str, str | list[str]]) -> str:
    lines = []
    for name, value in arguments.items():
        words = value if isinstance(value, list) else [value]
        spaced = [word for word in words if word.split() != [word]]
        if spaced:
            raise RecipeError(
                f"launcher: {name} holds {spaced[0]!r}; found a space in it, expected none, since "
                "argument files are split at spaces"
            )
        lines.append(" ".join([name, *words]))
    return "\n".join(lines) + "\n"


def _olmo_core(
    plan: Mapping[str, Any], manifest: Mapping[str, Any], settings: TrainingSettings
) -> dict[str, Any]:
    """Return the fragment of an OLMo-core configuration; it reads a .bin as raw token ids."""
    tokenizer = manifest["tokenizer"]
    rate = plan["learning_rate"]
    eod = tokenizer.get("eod_id")
    tokens = settings.global_batch * plan["sequence_length"]
    steps = plan["tokens"] // tokens if settings.ramp else plan["steps"]
    return {
        "dataset": {
            "paths": [_path(shard["path"] + ".bin", settings) for shard in plan["train"]],
            "sequence_length": plan["sequence_length"],
            "tokenizer": {
                "vocab_size": tokenizer["vocabulary"],
                "eos_token_id": eod,
                "pad_token_id": eod,
            },
        },
        "data_loader": {"global_batch_size": tokens, "seed": plan["seed"]},
        "train_module": {
            "max_grad_norm": plan["clip_gradient"],
            "optim": {
                "lr": rate["peak"],
                "weight_decay": plan["weight_decay"],
                "betas": list(settings.betas),
            },
            "scheduler": {
                "_CLASS_": "olmo_core.optim.scheduler.CosWithWarmup",
                "warmup_steps": round(settings.warmup_fraction * steps),
                "alpha_f": settings.final_fraction,
            },
        },
        "trainer": {"max_duration": {"value": steps, "unit": "steps"}},
    }


_NANOTRON = """\
# nanotron reads a folder of .ds files (output.format: nanotron), and has no batch ramp.
data_stages:
  - name: {name}
    start_training_step: 1
    data:
      dataset:
        dataset_folder: {folder}
      num_loading_workers: 1
      seed: {seed}
tokenizer:
  tokenizer_name_or_path: {tokenizer}
tokens:
  sequence_length: {sequence_length}
  train_steps: {steps}
  micro_batch_size: {micro_batch}
  batch_accumulation_per_replica: {accumulation}  # divide by the data-parallel ranks
optimizer:
  clip_grad: {clip}
  weight_decay: {decay}
  learning_rate_scheduler:
    learning_rate: {peak}
    min_decay_lr: {final}
    lr_warmup_steps: {warmup}
    lr_warmup_style: linear
    lr_decay_style: cosine
    lr_decay_starting_step: {warmup}
    lr_decay_steps: {decay_steps}
"""


def _nanotron(plan: Mapping[str, Any], settings: TrainingSettings, tokenizer: str) -> str:
    steps = max(1, plan["samples"] // settings.global_batch)
    warmup = round(settings.warmup_fraction * steps)
    folder = plan["train"][0]["path"].rpartition("/")[0]
    return _NANOTRON.format(
        name=json.dumps("training"),
        folder=json.dumps(_path(folder, settings)),
        seed=plan["seed"],
        tokenizer=json.dumps(tokenizer),
        sequence_length=plan["sequence_length"],
        steps=steps,
        micro_batch=settings.micro_batch,
        accumulation=max(1, settings.global_batch // settings.micro_batch),
        clip=_decimal(plan["clip_gradient"]),
        decay=_decimal(plan["weight_decay"]),
        peak=_decimal(plan["learning_rate"]["peak"]),
        final=_decimal(plan["learning_rate"]["final"]),
        warmup=warmup,
        decay_steps=max(1, steps - warmup),
    )


def _decimal(number: float) -> str:
    """Return a number as YAML of any version reads a float: with a point."""
    text = repr(float(number))
    return text if "." in text or "e" not in text else text.replace("e", ".0e")
