/**
 * Fields of request bodies that the audit trail may show. Any other field is masked, whatever its type: an unforeseen or misspelled field
 * may hold a secret. They count by name, because a refused body need not be one of a DTO: a name that one DTO shows is shown in all.
 */
const SHOWN = new Set<string>();

/** Fields of objects in shown fields, by the name of the field that holds the object. */
const SHOWN_WITHIN = new Map<string, Set<string>>();

/** The audit trail may show the field. `within`: only in an object that is a field with this name, or in a list of such objects. */
export const Audited =
  (within?: string): PropertyDecorator =>
  (_, name) => {
    if (within === undefined) SHOWN.add(String(name));
    else SHOWN_WITHIN.set(within, (SHOWN_WITHIN.get(within) ?? new Set()).add(String(name)));
  };

/** Whether the trail may show a field of this name. */
export const isAudited = (name: string): boolean => SHOWN.has(name);

/** The fields that the trail may show of the objects in a field; undefined if it shows no such objects. */
export const auditedWithin = (name: string): ReadonlySet<string> | undefined => SHOWN_WITHIN.get(name);
