import type { ParametersOf } from '../../../routing-config/guardrails/check-parameters.js';
import type { HttpCaller } from '../../../egress/http-caller.js';
import type { Check } from '../check.js';

/** More URLs than this are not requested and fail the check: a text must not trigger an unlimited number of requests. */
const URLS_MAX = 20;
const URL_TEXT = /(?<![\w.])https?:\/\/[^\s<>"'`)\]}]{1,2000}/gi;
const TRAILING = /[.,;:!?]+$/;

/** Every URL in the text responds, or with `onlyDNS` its host has an address. */
export function validUrls(
  { onlyDNS, not, timeout }: ParametersOf<'default.validUrls'>,
  http: HttpCaller,
): Check {
  const isValid = async (tenant: string, url: string): Promise<boolean> => {
    if (!URL.canParse(url)) return false;
    if (onlyDNS) return http.hasAddress(new URL(url).hostname);
    const headers = ['accept', '*/*'];
    const answer = await http
      .call(tenant, { method: 'HEAD', url, headers, body: null, timeoutMs: timeout })
      .catch(() => null);
    // Some servers do not support HEAD, but the URL exists.
    return answer !== null && (answer.status < 400 || answer.status === 405);
  };
  return {
    run: async ({ texts, facts: { caller } }) => {
      const urls = [
        ...new Set(
          texts.flatMap((text) => text.match(URL_TEXT) ?? []).map((url) => url.replace(TRAILING, '')),
        ),
      ];
      const looked = urls.slice(0, URLS_MAX);
      const results = await Promise.all(looked.map((url) => isValid(caller.organizationId, url)));
      const invalid = looked.filter((_, index) => !results[index]);
      return {
        verdict: (invalid.length === 0 && urls.length <= URLS_MAX) !== not,
        data: { count: urls.length, invalid, not },
      };
    },
  };
}
