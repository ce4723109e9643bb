"""Every named signal: what it means, and how it is measured on a batch of documents."""

from collections.abc import Iterable

from corpusclean.signals.registry import Signal

__all__ = ["Signal", "all_signals"]


def all_signals(blocklists: Iterable[str] = ()) -> dict[str, Signal]:
    """Return the reference of every signal by its name, those of the named blocklists last."""
    from corpusclean.signals import anomalies, document, language, quality, repetition

    rooms = (document, quality, repetition, anomalies, language)
    signals = [signal for room in rooms for signal in room.REFERENCE]
    names = list(blocklists)
    if names:
        from corpusclean.signals.blocklists import blocklist_signal

        signals += [blocklist_signal(name) for name in names]
    return {signal.name: signal for signal in signals}
