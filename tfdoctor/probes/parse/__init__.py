"""One file per format: text that a program printed, or NVML's answer, into facts. No input makes one of them raise."""
