#!/usr/bin/env python3
"""Locks in Redis for rig's driver exec: mutexes, reentrant locks, semaphores and leases with fencing tokens, each operation one script in MULTI ... EXEC.

A lock is a hash: for each owner how often it holds the lock and when its lease ends, the last token, and the largest token under which work
was done. Arguments: --work=checked, or --work=unchecked to accept work under any token; then the nodes, each NAME:PORT.
"""
import sys

sys.dont_write_bytecode = True
import redis_lists

ACQUIRE = """
local owner, limit, lease = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local time = redis.call('TIME')
local now, all, own = time[1] * 1000000 + time[2], 0, 0
local fields = redis.call('HGETALL', KEYS[1])
for i = 1, #fields, 2 do
  if string.sub(fields[i], 1, 5) == 'owner' then
    local count, ends = string.match(fields[i + 1], '(%d+) (%d+)')
    if tonumber(ends) > 0 and tonumber(ends) <= now then
      redis.call('HDEL', KEYS[1], fields[i])
    else
      all = all + count
      if fields[i] == 'owner' .. owner then own = tonumber(count) end
    end
  end
end
if (limit > 0 and all >= limit) or (limit < 0 and (all > own or own >= -limit)) then return false end
local ends = 0
if lease > 0 then ends = now + lease end
redis.call('HSET', KEYS[1], 'owner' .. owner, own + 1 .. ' ' .. string.format('%.0f', ends))
if limit < 0 and own > 0 then return tonumber(redis.call('HGET', KEYS[1], 'given')) end
return redis.call('HINCRBY', KEYS[1], 'given', 1)
"""
RELEASE = """
local hold = redis.call('HGET', KEYS[1], 'owner' .. ARGV[1])
if not hold then return false end
local count, ends = string.match(hold, '(%d+) (%d+)')
local time = redis.call('TIME')
if tonumber(ends) > 0 and tonumber(ends) <= time[1] * 1000000 + time[2] then return false end
if tonumber(count) == 1 then return redis.call('HDEL', KEYS[1], 'owner' .. ARGV[1]) end
return redis.call('HSET', KEYS[1], 'owner' .. ARGV[1], count - 1 .. ' ' .. ends) + 1
"""
WORK = """
local worked = tonumber(redis.call('HGET', KEYS[1], 'worked') or 0)
if tonumber(ARGV[1]) < worked and ARGV[2] == 'checked' then return false end
redis.call('HSET', KEYS[1], 'worked', math.max(worked, ARGV[1]))
return tonumber(ARGV[1])
"""
work = sys.argv.pop(1).removeprefix("--work=")
tokens = {}  # that of the client's last acquisition of each lock


def run(connection, prefix, ops, announce):
    """The results of the operation. Before `announce` nothing can commit."""
    kind, key, value = ops[0]
    lock = prefix + str(key)
    rules = {name: number for name, _, number in ops[1:]}
    if kind == "hold":
        lease_us = -(-rules.get("lease", 0) // 1000)
        script = ["EVAL", ACQUIRE, 1, lock, value, rules.get("limit", 1), lease_us]
    elif kind == "free":
        script = ["EVAL", RELEASE, 1, lock, value]
    elif key not in tokens:
        raise redis_lists.Refused("NO-TOKEN the client has no token of this lock")
    else:
        script = ["EVAL", WORK, 1, lock, tokens[key], work]
    result = redis_lists.execute(connection, [script], announce)[0]
    if isinstance(result, redis_lists.Refused) or result is None:
        raise result or redis_lists.Refused("REFUSED the lock is not as the operation needs it")
    if kind == "hold":
        tokens[key] = result
    return ops if kind == "free" else [*ops[:-1], ["token", key, result]]


redis_lists.serve(run)
