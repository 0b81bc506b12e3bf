"""Make the embedded example: card payments, two scorers of fraud. Made up, seeded, repeatable.

Only ``random.Random.random`` is drawn from, whose sequence Python keeps from version to version, so
every machine writes the same bytes.

    python scripts/make_example.py            writes src/precall/data/payments.csv
    python scripts/make_example.py - | head   writes to standard output
"""

import argparse
import csv
import io
import math
import sys
from pathlib import Path
from random import Random
from statistics import NormalDist

DESTINATION = Path(__file__).parents[1] / "src" / "precall" / "data" / "payments.csv"
SEED = 20_040_826
ROWS = 4_000

# channel: share of payments; chance that a payment on a stolen card is fraud; how suspicious
# honest payments look there, in standard deviations.
CHANNELS = {
    "in store": (0.44, 0.045, -0.2),
    "online": (0.30, 0.36, 0.3),
    "cash machine": (0.12, 0.16, 0.0),
    "subscription": (0.09, 0.12, -0.3),
    "phone": (0.05, 0.75, 0.5),
}
STOLEN_CARDS = 0.11
MORE_PAYMENTS = 0.70  # chance that a card is used once more: 3.3 payments a card on average

COLUMNS = (
    "payment_id",
    "card_id",
    "channel",
    "amount",
    "fraud",
    "gradient_boosting",
    "scorecard",
)


def example_csv() -> str:
    """The whole file as text: one payment a row, rows in order of time."""
    random = Random(SEED)
    payments = _payments(random)
    # Cards were drawn one after the other; time mixes them.
    payments.sort(key=lambda payment: payment["time"])
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for number, payment in enumerate(payments, start=1):
        payment["payment_id"] = f"P{number:04d}"
        writer.writerow([payment[column] for column in COLUMNS])
    return text.getvalue()


def _payments(random: Random) -> list[dict[str, object]]:
    payments: list[dict[str, object]] = []
    card = 0
    while len(payments) < ROWS:
        card += 1
        stolen = random.random() < STOLEN_CARDS
        another = True
        while another and len(payments) < ROWS:
            payments.append(_payment(random, f"C{card:04d}", stolen))
            another = random.random() < MORE_PAYMENTS
    return payments


def _payment(random: Random, card_id: str, stolen: bool) -> dict[str, object]:
    channel = _channel(random.random())
    _, fraud_if_stolen, suspicion = CHANNELS[channel]
    fraud = stolen and random.random() < fraud_if_stolen
    amount = math.exp(3.4 + 0.9 * _normal(random) + (0.4 if fraud else 0.0))
    # What both scorers can see of a payment, and what each adds of its own. The scorecard sees
    # less of the fraud, so it is the worse of the two; they are right and wrong together.
    seen = suspicion + _normal(random) + ((2.3 + 0.9 * _normal(random)) if fraud else 0.0)
    model = seen + 0.45 * _normal(random) + (0.6 if fraud else 0.0)
    points = seen + 0.75 * _normal(random)
    return {
        "time": random.random(),
        "card_id": card_id,
        "channel": channel,
        "amount": f"{amount:.2f}",
        "fraud": int(fraud),
        # A probability with six digits; points from 0 to 100, so that many payments tie.
        "gradient_boosting": f"{1 / (1 + math.exp(6.2 - 1.9 * model)):.6f}",
        "scorecard": min(100, max(0, round(30 + 11 * points))),
    }


def _channel(uniform: float) -> str:
    for channel, (share, _, _) in CHANNELS.items():
        uniform -= share
        if uniform < 0:
            return channel
    return channel


def _normal(random: Random) -> float:
    uniform = random.random()
    while uniform == 0.0:
        uniform = random.random()
    return NormalDist().inv_cdf(uniform)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("output", nargs="?", default=str(DESTINATION), help="a file, or -")
    output = parser.parse_args().output
    if output == "-":
        sys.stdout.write(example_csv())
    else:
        Path(output).write_text(example_csv(), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
