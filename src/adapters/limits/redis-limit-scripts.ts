/**
 * The rules of `lease_limits` and `return_limits` in PostgreSQL, for Redis. A window is a hash of step to amount; slots are a hash of
 * holder to "amount:expires at". Each call about slots repeats its holder's total, because Redis may have lost it. A call that arrives
 * after a later one changes nothing.
 *
 * For each counter, a script reads and checks everything before it writes, and writes absolute values: no write depends on the previous
 * value, so none can fail halfway. A key that cannot be read, a counter's or the one of the calls, is deleted and starts again. If Redis refuses writes (it is full, or a
 * replica), the first write of the script fails and with it the whole call:
 * https://redis.io/docs/latest/develop/reference/eviction/#how-the-eviction-process-works
 *
 * Lua numbers are doubles, exact up to 2^53, as amounts are. Scripts that read the clock before they write need effects replication, which
 * is the default since Redis 5: https://redis.io/docs/latest/develop/programmability/lua-api/#redis.set_repl
 */
const COMMON = `
  local holder, lease, calls = ARGV[1], tonumber(ARGV[2]), KEYS[#KEYS]
  local clock = redis.call('TIME')
  local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
  local STEPS = 100
  -- A year, in milliseconds. No lease ends later, whatever was done to the clock; an entry that does was not written by a process.
  local LONGEST_LEASE = 31536000000

  local function text(number) return string.format('%.0f', number) end

  -- Fields and values of a hash; nothing and true where the key holds something else, which is deleted.
  local function read(key)
    local fields = redis.pcall('HGETALL', key)
    if not fields.err then return fields, false end
    redis.call('DEL', key)
    return {}, true
  end

  -- What others hold of slots. Entries that have expired, or cannot be read, are deleted.
  local function heldByOthers(key)
    local fields, isCorrupt = read(key)
    local held = 0
    for at = 1, #fields, 2 do
      local amount, expires = string.match(fields[at + 1], '^(%d+):(%d+)$')
      if not amount or tonumber(expires) > now + LONGEST_LEASE then
        isCorrupt = true
        redis.call('HDEL', key, fields[at])
      elseif tonumber(expires) <= now then redis.call('HDEL', key, fields[at])
      elseif fields[at] ~= holder then held = held + tonumber(amount) end
    end
    return held, isCorrupt
  end

  -- The last call of the holder about a counter, and whether the key of the calls could not be read, which is deleted. The key of a
  -- process that is silent expires, so that no number in it is believed forever.
  local function lastCall(key)
    local last = redis.pcall('HGET', calls, key)
    if type(last) == 'table' and last.err then
      redis.call('DEL', calls)
      return 0, true
    end
    if not last then return 0, false end
    if not string.match(last, '^%d+$') then return 0, true end
    if redis.call('PTTL', calls) < 0 then redis.call('PEXPIRE', calls, lease) end
    return tonumber(last), false
  end

  -- Notes what the holder holds of slots. False where a later call has done so already; then, whether the calls were corrupt.
  local function hold(key, amount, call)
    local last, isCorrupt = lastCall(key)
    if last > call then return false, isCorrupt end
    if amount > 0 then
      redis.call('HSET', key, holder, text(amount) .. ':' .. text(now + lease))
      redis.call('PEXPIRE', key, lease)
      redis.call('HSET', calls, key, text(call))
      redis.call('PEXPIRE', calls, lease)
    else
      redis.call('HDEL', key, holder)
      redis.call('HDEL', calls, key)
    end
    return true, isCorrupt
  end

  -- Amounts of a window by step; empty and true where it was corrupt, and is deleted.
  local function stepsOf(key)
    local fields, isCorrupt = read(key)
    local steps = {}
    for at = 1, #fields, 2 do
      local step, amount = string.match(fields[at], '^%d+$'), string.match(fields[at + 1], '^%-?%d+$')
      if not step or not amount then
        redis.call('DEL', key)
        return {}, true
      end
      steps[tonumber(step)] = tonumber(amount)
    end
    return steps, isCorrupt
  end

  local function stepOf(window)
    local length = math.max(math.floor(window / STEPS), 1)
    return math.floor(now / length), length
  end
`;

/**
 * KEYS: counters, and the calls of the holder. ARGV: holder, lease of slots (ms), then for each counter kind, amount, window (ms), debt,
 * first, need, spare, holds, call. Returns granted, free, retry (ms), others, step and whether it was corrupt.
 */
export const TAKE = `${COMMON}
  local function grant(free, first, need, spare)
    if free >= need then return need + math.min(spare, math.floor((free - need) / 32)) end
    if free >= first then return first end
    return 0
  end

  local function takeSlots(key, ask)
    local others, isCorrupt = heldByOthers(key)
    local free = ask.amount - others - ask.holds - ask.debt
    local granted = grant(free, ask.first, ask.need, ask.spare)
    local isHeld, areCallsCorrupt = hold(key, ask.holds + granted + ask.debt, ask.call)
    if not isHeld then granted = 0 end
    return { granted, free - granted, 0, others, 0, (isCorrupt or areCallsCorrupt) and 1 or 0 }
  end

  local function takeWindow(key, ask)
    local steps, isCorrupt = stepsOf(key)
    local step, length = stepOf(ask.window)
    local used, oldest = 0, step
    for at, amount in pairs(steps) do
      -- What lies more than a window ahead was written before the clock was set back.
      if at > step - STEPS and at <= step + STEPS then
        used = used + amount
        oldest = math.min(oldest, at)
      else
        redis.call('HDEL', key, text(at))
      end
    end
    local free = ask.amount - used - ask.debt
    local granted = grant(free, ask.first, ask.need, ask.spare)
    if granted + ask.debt > 0 then
      redis.call('HSET', key, text(step), text((steps[step] or 0) + granted + ask.debt))
      redis.call('PEXPIRE', key, 2 * ask.window)
    end
    local retry = math.max((oldest + STEPS) * length - now, 1)
    return { granted, free - granted, retry, 0, step, isCorrupt and 1 or 0 }
  end

  local answers = {}
  for index = 1, #KEYS - 1 do
    local base = 2 + (index - 1) * 9
    local function number(at) return tonumber(ARGV[base + at]) end
    local ask = { amount = number(2), window = number(3), debt = number(4), first = number(5), need = number(6),
      spare = number(7), holds = number(8), call = number(9) }
    local take = ARGV[base + 1] == 'slots' and takeSlots or takeWindow
    answers[index] = take(KEYS[index], ask)
  end
  return answers
`;

/**
 * KEYS: counters, and the calls of the holder. ARGV: holder, lease of slots (ms), then for each counter kind, window (ms), holds, call, and
 * the number of its steps followed by the steps with their amounts. Returns 1 for each counter, or 0 if it was corrupt.
 */
export const GIVE_BACK = `${COMMON}
  -- A step frees no more than it counts, and nothing once it has left the window.
  local function giveBack(key, window, parts)
    local steps, isCorrupt = stepsOf(key)
    local current = stepOf(window)
    for step, amount in pairs(parts) do
      local counted = steps[step]
      if counted and step > current - STEPS then
        if counted > amount then redis.call('HSET', key, text(step), text(counted - amount))
        else redis.call('HDEL', key, text(step)) end
      end
    end
    return isCorrupt and 0 or 1
  end

  local answers = {}
  local at = 3
  for index = 1, #KEYS - 1 do
    local kind, window, holds, call, count = ARGV[at], tonumber(ARGV[at + 1]), tonumber(ARGV[at + 2]),
      tonumber(ARGV[at + 3]), tonumber(ARGV[at + 4])
    local parts = {}
    for part = 1, count do
      local step, amount = tonumber(ARGV[at + 3 + 2 * part]), tonumber(ARGV[at + 4 + 2 * part])
      parts[step] = (parts[step] or 0) + amount
    end
    at = at + 5 + 2 * count
    if kind == 'slots' then
      local _, isCorrupt = heldByOthers(KEYS[index])
      local _, areCallsCorrupt = hold(KEYS[index], holds, call)
      answers[index] = (isCorrupt or areCallsCorrupt) and 0 or 1
    else
      answers[index] = giveBack(KEYS[index], window, parts)
    end
  end
  return answers
`;

/** The braces keep all counters in one slot: https://redis.io/docs/latest/operate/oss_and_stack/reference/cluster-spec/#hash-tags */
export const limitKey = (key: string): string => `{gatehouse-limits}:${key}`;
