"""What cold experts cost a lane: time, bytes and KV cache, and what would pay."""
