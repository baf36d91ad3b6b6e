"""Numbers on the command line of the scripts."""

import argparse


def whole_number(text):
    """From 1 to 10^9: `1000000`, `1e6`."""
    try:
        number = int(float(text))
    except (ValueError, OverflowError):
        number = 0
    if not 1 <= number <= 10**9:
        raise argparse.ArgumentTypeError(f"`{text}` is not a number from 1 to 1e9")
    return number
