"""What goes to a device and comes back is the same."""

import torch

from longmatch.encoders.transfer import fetched, moved


def test_on_a_processor_numbers_stay_where_they_are():
    numbers, processor = torch.arange(5), torch.device("cpu")
    assert moved(numbers, processor) is numbers
    assert fetched(numbers)() is numbers
