import type { SeededRandom } from './random.js';

/** One field of the text: its quoted name, its value, and the whitespace around both. */
interface Member {
  readonly name: string;
  readonly value: string;
  readonly blanks: readonly [string, string, string, string];
}

const BLANKS = ['', '', '', ' ', '\t', '\n', '\r\n', '  \n\t'] as const;

/** Values that JSON.stringify writes differently or cannot write. */
const SCALARS = [
  '1.0',
  '1e3',
  '1E+03',
  '-0',
  '-0.0',
  '0.10000',
  '1e400',
  '12345678901234567890',
  '9007199254740993',
  'true',
  'null',
  '""',
  '"\\u00e9\\/\\b"',
  '"\\ud83e\\udd89 \\uD800"',
  '"\\u0000\\u2028"',
  '"é🦉 \u2028 \u007f"',
  '"}],\\"model\\":\\"x\\\\"',
  '[]',
  '{}',
] as const;

type Fields = readonly (readonly [name: string, value: string])[];

/** A valid JSON object whose text does not survive JSON.parse and JSON.stringify. */
export class OddJson {
  private constructor(
    private readonly members: readonly Member[],
    private readonly opening: string,
    private readonly closing: string,
  ) {}

  /** `fields` are names and JSON texts, in order. Random fields are inserted between them. */
  static of(random: SeededRandom, fields: Fields, { hasDuplicates = true } = {}): OddJson {
    const members: Member[] = [];
    for (const [name, value] of fields) {
      if (random.is(0.5))
        members.push(oddMember(random, `"x_${members.length}"`, oddValue(random, 2, hasDuplicates)));
      members.push(oddMember(random, JSON.stringify(name), value));
    }
    members.push(oddMember(random, '"x\\u005flast"', oddValue(random, 3, hasDuplicates)));
    const twice = random.of(['"n"', '"__proto__"', '"1"', '"toString"']);
    members.push(oddMember(random, twice, '1.0'));
    if (hasDuplicates) members.push(oddMember(random, twice, '1'));
    return new OddJson(members, random.of(BLANKS), random.of(BLANKS));
  }

  /** The same text with another value for every field of that name. */
  with(name: string, value: string): OddJson {
    const members = this.members.map((one) => (nameOf(one) === name ? { ...one, value } : one));
    return new OddJson(members, this.opening, this.closing);
  }

  /** The same text with every field of that name duplicated. */
  twice(name: string, value: string): OddJson {
    const members = this.members.flatMap((one) => (nameOf(one) === name ? [one, { ...one, value }] : [one]));
    return new OddJson(members, this.opening, this.closing);
  }

  /** The same text with a name spelled with escapes. */
  escaped(name: string): OddJson {
    const spelled = `"\\u${(name.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}${name.slice(1)}"`;
    const members = this.members.map((one) => (nameOf(one) === name ? { ...one, name: spelled } : one));
    return new OddJson(members, this.opening, this.closing);
  }

  /** The same text with another field directly after the last value. */
  plus(name: string, value: string): OddJson {
    const last = this.members.at(-1);
    if (!last) throw new Error('an odd object has fields');
    const { blanks } = last;
    const ended: Member = { ...last, blanks: [blanks[0], blanks[1], blanks[2], ''] };
    const added: Member = { name: JSON.stringify(name), value, blanks: ['', '', '', blanks[3]] };
    return new OddJson([...this.members.slice(0, -1), ended, added], this.opening, this.closing);
  }

  get text(): string {
    const fields = this.members.map(
      ({ name, value, blanks: [before, behindName, beforeValue, behind] }) =>
        `${before}${name}${behindName}:${beforeValue}${value}${behind}`,
    );
    return `${this.opening}{${fields.join(',')}}${this.closing}`;
  }

  get bytes(): Buffer {
    return Buffer.from(this.text);
  }
}

const nameOf = ({ name }: Member): string => JSON.parse(name) as string;

function oddMember(random: SeededRandom, name: string, value: string): Member {
  const blank = (): string => random.of(BLANKS);
  return { name, value, blanks: [blank(), blank(), blank(), blank()] };
}

function oddValue(random: SeededRandom, depth: number, hasDuplicates: boolean): string {
  const blank = random.of(BLANKS);
  if (depth === 0 || random.is(0.6)) return random.of(SCALARS);
  const values = Array.from({ length: random.whole(0, 3) }, () => oddValue(random, depth - 1, hasDuplicates));
  if (random.is(0.5)) return `[${blank}${values.join(`${blank},`)}${blank}]`;
  // Every name occurs twice, where it may.
  const name = (at: number): number => (hasDuplicates ? at >> 1 : at);
  return `{${blank}${values.map((value, at) => `"k${name(at)}"${blank}:${value}`).join(`,${blank}`)}}`;
}
