"""Evaluate the embedded example and print what came out: the job of `make demo`."""

import numpy as np

import sawtooth as saw


def main() -> None:
    example = saw.load_example()
    n_pos = int(example.label.sum())
    prevalence = n_pos / example.label.size
    floor = saw.minimum_aucpr(prevalence)
    print(f"{example.label.size:,} card payments, {n_pos} of them fraud ({prevalence:.2%}).")
    print(f"Chance gives an AUCPR of about {prevalence:.4f}; none can be under {floor:.4f} here.")

    print(f"\n{'scorer':<20}{'AUCPR':>8}{'AUROC':>8}")
    for name, score in example.scores.items():
        ranking = saw.rank(example.label, score)
        print(f"{name:<20}{saw.aucpr(ranking):>8.3f}{saw.auroc(ranking):>8.3f}")

    print(f"\n{'AUCPR by channel':<20}{'fraud':>8}{'of':>8}{'floor':>8}", end="")
    print("".join(f"{name:>20}" for name in example.scores))
    for channel in np.unique(example.group):
        rows = example.group == channel
        rankings = [saw.rank(example.label[rows], score[rows]) for score in example.scores.values()]
        ranking = rankings[0]
        print(f"{channel:<20}{ranking.n_pos:>8}{ranking.n_pos + ranking.n_neg:>8}", end="")
        print(f"{saw.minimum_aucpr(ranking.prevalence):>8.4f}", end="")
        print("".join(f"{saw.aucpr(ranking):>20.3f}" for ranking in rankings))


if __name__ == "__main__":
    main()
