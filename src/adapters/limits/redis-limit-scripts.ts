/**
 * The rules of `take_limits` and `give_back_limits` in PostgreSQL, for Redis. A window is a hash of step to amount, slots
 * are a hash of holder to "amount:expires at"; each call says what its holder has in hand, because a Redis may have forgotten it, or have done what
 * its holder never heard of. Numbers of Lua are doubles, exact up to 2^53, as amounts are.
 *
 * Scripts that read the clock before they write need effects replication, which is the default since Redis 5:
 * https://redis.io/docs/latest/develop/programmability/lua-api/#redis.set_repl
 */
const COMMON = `
  local clock = redis.call('TIME')
  local now = clock[1] * 1000 + math.floor(clock[2] / 1000)

  local function grant(free, first, need, spare)
    if free >= need then return need + math.min(spare, math.floor((free - need) / 32)) end
    if free >= first then return first end
    return 0
  end

  local function usedByOthers(key)
    local used = 0
    local held = redis.call('HGETALL', key)
    for at = 1, #held, 2 do
      local amount, expires = string.match(held[at + 1], '^(%d+):(%d+)$')
      if tonumber(expires) > now then
        if held[at] ~= ARGV[1] then used = used + tonumber(amount) end
      else
        redis.call('HDEL', key, held[at])
      end
    end
    return used
  end

  local function keep(key, amount)
    if amount <= 0 then
      redis.call('HDEL', key, ARGV[1])
      return
    end
    local lease = tonumber(ARGV[2])
    redis.call('HSET', key, ARGV[1], string.format('%.0f:%.0f', amount, now + lease))
    redis.call('PEXPIRE', key, lease)
  end
`;

/** KEYS: counters. ARGV: holder, lease of slots (ms), then of each counter kind, amount, window (ms), debt, first, need, spare, holds. */
export const TAKE = `${COMMON}
  local answers = {}
  for index, key in ipairs(KEYS) do
    local base = 2 + (index - 1) * 8
    local kind = ARGV[base + 1]
    local amount, window, debt, first, need, spare = tonumber(ARGV[base + 2]), tonumber(ARGV[base + 3]),
      tonumber(ARGV[base + 4]), tonumber(ARGV[base + 5]), tonumber(ARGV[base + 6]), tonumber(ARGV[base + 7])
    local granted, free, retry = 0, 0, 0
    if kind == 'slots' then
      local mine = tonumber(ARGV[base + 8])
      free = amount - usedByOthers(key) - mine - debt
      granted = grant(free, first, need, spare)
      keep(key, mine + granted + debt)
    else
      local length = math.max(math.floor(window / 100), 1)
      local step = math.floor(now / length)
      local used, oldest = 0, step
      local marks = redis.call('HGETALL', key)
      for at = 1, #marks, 2 do
        local mark = tonumber(marks[at])
        -- What lies more than a window ahead was written before the clock was set back.
        if mark > step - 100 and mark <= step + 100 then
          used = used + tonumber(marks[at + 1])
          oldest = math.min(oldest, mark)
        else
          redis.call('HDEL', key, marks[at])
        end
      end
      free = amount - used - debt
      granted = grant(free, first, need, spare)
      if granted + debt > 0 then
        redis.call('HINCRBY', key, string.format('%.0f', step), string.format('%.0f', granted + debt))
        redis.call('PEXPIRE', key, 2 * window)
      end
      retry = math.max((oldest + 100) * length - now, 1)
    end
    answers[index] = { granted, free - granted, retry }
  end
  return answers
`;

/** KEYS: counters. ARGV: holder, lease of slots (ms), then of each counter kind, amount and holds. */
export const GIVE_BACK = `${COMMON}
  for index, key in ipairs(KEYS) do
    local kind, rest = ARGV[3 * index], tonumber(ARGV[3 * index + 1])
    if kind == 'slots' then
      keep(key, tonumber(ARGV[3 * index + 2]))
    else
      local marks = redis.call('HKEYS', key)
      table.sort(marks, function(one, other) return tonumber(one) < tonumber(other) end)
      for _, mark in ipairs(marks) do
        if rest <= 0 then break end
        local part = math.min(rest, tonumber(redis.call('HGET', key, mark)))
        redis.call('HINCRBY', key, mark, string.format('%.0f', -part))
        rest = rest - part
      end
    end
  end
  return #KEYS
`;
