"""What goes to a device and comes back is the same."""

import torch

from longmatch.lab.encoders.transfer import fetch_async, to_device


def test_on_a_processor_numbers_stay_where_they_are():
    numbers, processor = torch.arange(5), torch.device("cpu")
    assert to_device(numbers, processor) is numbers
    assert fetch_async(numbers)() is numbers
