"""A small tokenizer, trained in memory."""

import json

import pytest
import tokenizers

PROSE = [
    "The kettle sang on the stove while the rain came down in sheets.",
    "Der Regen fiel in Strömen, und der Kessel sang auf dem Herd.",
    "def add(a, b):\n    return a + b\n\n",
    "雨が降っている間、やかんが歌っていた。",
    "Дождь лил как из ведра, а чайник пел на плите.",
] * 20


def trained(special=("<|endoftext|>", "<|pad|>")):
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE())
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = tokenizers.decoders.ByteLevel()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=600,
        special_tokens=list(special),
        initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(PROSE, trainer)
    return json.loads(tokenizer.to_str())


@pytest.fixture(scope="session")
def trained_model():
    """The content of a tokenizer.json; tests change copies of it."""
    return trained()


@pytest.fixture
def write_model(tmp_path, trained_model):
    """Return a function that writes a changed copy of the model and gives its path."""

    def write(change=lambda model: None, name="tokenizer.json"):
        model = json.loads(json.dumps(trained_model))
        change(model)
        path = tmp_path / name
        path.write_text(json.dumps(model), encoding="utf-8")
        return str(path)

    return write
