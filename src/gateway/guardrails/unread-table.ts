import { ERRORS } from '../../common/errors/catalog.js';
import { UNREAD_REASONS, unreadRow, type UnreadReason } from './texts/unread.js';

/** Guardrails by what they may do. All but the last refuse what they cannot read; `run-hooks.ts` decides so. */
export const GUARDRAIL_POWERS = ['denies', 'redacts', 'is imposed', 'only records'] as const;
export type GuardrailPower = (typeof GUARDRAIL_POWERS)[number];

export type UnreadSide = 'request' | 'response';

export const REASONS = Object.keys(UNREAD_REASONS) as readonly UnreadReason[];

const RECORDED = 'recorded';
const INAPPLICABLE = `${ERRORS.guardrail_inapplicable.status} \`guardrail_inapplicable\``;
const DENIED = `${ERRORS.guardrail_denied.status} \`guardrail_denied\``;

/** The outcome for content that a guardrail cannot read; null where the reason does not occur. */
export function unreadOutcomeOf(
  reason: UnreadReason,
  power: GuardrailPower,
  side: UnreadSide,
): string | null {
  const { code, sides, isByDesign } = unreadRow(reason);
  if (!sides.includes(side === 'request' ? 'input' : 'output')) return null;
  if (power === 'only records') return RECORDED;
  if (isByDesign) return isRefusedByPath(power, side) ? INAPPLICABLE : RECORDED;
  return side === 'request' ? `${ERRORS[code].status} \`${code}\`` : DENIED;
}

/** The path alone decides, before anything is read: `applicable.ts`. */
const isRefusedByPath = (power: GuardrailPower, side: UnreadSide): boolean =>
  power === 'is imposed' || (power === 'denies' && side === 'response');

const HEADS = ['Reason', ...GUARDRAIL_POWERS.map((power) => `A guardrail that ${power}`)];

/** For docs/guardrails.md: a row for each reason, a column for each power, the request before the response. */
export function unreadTable(): string {
  const rows = REASONS.map((reason) => [
    `\`${reason}\`: ${unreadRow(reason).says}`,
    ...GUARDRAIL_POWERS.map((power) => cellOf(reason, power)),
  ]);
  return [HEADS, HEADS.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

function cellOf(reason: UnreadReason, power: GuardrailPower): string {
  const outcomes = (['request', 'response'] as const)
    .map((side) => unreadOutcomeOf(reason, power, side))
    .filter((outcome) => outcome !== null);
  return [...new Set(outcomes)].join('; ');
}
