"""Formats samples as Markdown: a table of figures, a table of ratios, and the targets."""

import statistics

from .machine import OTHERS_MAX, STOLEN_MAX


def spread(values, digits):
    """Returns the median of the values as text, with the minimum and the maximum in parentheses."""
    low, high = min(values), max(values)
    if f"{low:.{digits}f}" == f"{high:.{digits}f}":
        return f"{low:,.{digits}f}"
    return f"{statistics.median(values):,.{digits}f} ({low:,.{digits}f}–{high:,.{digits}f})"


def values_of(samples, key):
    """Returns the values of a figure in all rounds, or None if the client doesn't report the figure."""
    values = [sample.values.get(key) for sample in samples]
    return None if None in values else values


def marks(samples):
    return (" †" if any(sample.is_server_bound for sample in samples) else "") + (
        " ‡" if any(sample.is_disturbed for sample in samples) else "")


def markdown(head, rows):
    return "\n".join(
        f"| {' | '.join(cells)} |" for cells in [head, ["---", *["---:"] * (len(head) - 1)], *rows])


def figure_table(case, samples):
    rows = []
    for row in case.rows:
        cells = []
        for column in case.columns:
            values = values_of(samples[row.name], column.key)
            cells.append("–" if values is None else spread([v * column.factor for v in values], column.digits))
        rows.append([row.title + marks(samples[row.name]), *cells])
    return markdown(["Client", *(column.title for column in case.columns)], rows)


def ratio_table(case, samples):
    """Returns the table of ratios: each figure divided by that of the first row in the same round."""
    base = case.rows[0]
    rows = []
    for row in case.rows[1:]:
        cells = []
        for column in case.columns:
            own, other = (values_of(samples[name], column.key) for name in (row.name, base.name))
            is_told = own is not None and other is not None and 0 not in other
            cells.append(spread([a / b for a, b in zip(own, other)], 2) if is_told else "–")
        rows.append([row.title, *cells])
    return markdown([f"Ratio to {base.title}", *(column.figure for column in case.columns)], rows)


def target_table(case, samples):
    rows = []
    for target in case.targets:
        needed = [target.row, *target.of]
        if any(name not in samples or values_of(samples[name], target.key) is None for name in needed):
            continue
        own = values_of(samples[target.row], target.key)
        if target.of:
            others = [sum(values) for values in zip(*(values_of(samples[name], target.key) for name in target.of))]
            if 0 in others:
                continue  # the run was too short to measure this figure
            own = [a / b for a, b in zip(own, others)]
        median = statistics.median(own)
        is_met = median <= target.at_most if target.at_most is not None else median >= target.at_least
        bound = f"at most {target.at_most:g}" if target.at_most is not None else f"at least {target.at_least:g}"
        rows.append([target.text, bound, spread(own, 2), "yes" if is_met else "no"])
    return markdown(["Target", "Required", "Measured", "Met"], rows) if rows else ""


def notes(samples):
    every = [sample for own in samples.values() for sample in own]
    lines = []
    if any(sample.is_server_bound for sample in every):
        lines.append("† The server's core was saturated, so the client could achieve more requests/s.")
    if any(sample.is_disturbed for sample in every):
        count = sum(sample.is_disturbed for sample in every)
        lines.append(
            f"‡ Disturbed in {count} of {len(every)} runs: the hypervisor stole more than {STOLEN_MAX:.0%} of the cores'"
            f" time, or other programs used more than {OTHERS_MAX:.0%}.")
    return "\n\n".join(lines)


def section(case, samples):
    """Returns the tables of a case as Markdown."""
    parts = [f"**{case.title}**", case.note, figure_table(case, samples)]
    if len(case.rows) > 1:
        parts.append(ratio_table(case, samples))
    parts += [target_table(case, samples), notes(samples)]
    return "\n\n".join(part for part in parts if part)
