import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { LogDetail } from '../../api/logs';
import { filtersText } from '../../parts/filters/filter';
import { visibleText } from '../../parts/format/visible-text';
import { Identifier } from '../../parts/values/identifier';
import { Moment } from '../../parts/values/values';
import { usePlace } from '../../session/session';
import { logWords } from '../../words/log';
import { words } from '../../words/en';
import { keyName } from './log-columns';
import styles from './log-drawer.module.css';

const { filters: fields } = words.logs;

interface LogFact {
  readonly label: string;
  readonly text: ReactNode;
  /** The filter for requests with the same value. */
  readonly filter?: { readonly field: string; readonly value: string };
}

/** A fact whose value is a value of a filter; none without a value. */
const filterable = (
  label: string,
  field: string,
  value: string | null | undefined,
  text = value,
): readonly LogFact[] =>
  value ? [{ label, text: visibleText(text ?? value), filter: { field, value } }] : [];

function factsOf(log: LogDetail): readonly LogFact[] {
  const { _user: user, ...metadata } = log.metadata ?? {};
  return [
    ...filterable(fields.model, 'model', log.model),
    ...filterable(fields.provider, 'provider', log.provider),
    ...filterable(fields.virtualKey, 'virtual_key', log.virtual_key),
    ...filterable(logWords.apiKey, 'api_key', log.api_key_id, keyName(log)),
    ...(log.config
      ? filterable(logWords.config, 'config', log.config.slug, `${log.config.name} v${log.config.version}`)
      : []),
    ...filterable(fields.user, 'user', user),
    ...filterable(fields.cache, 'cache', log.cache_status),
    ...filterable(logWords.tier, 'tier', log.service_tier),
    ...(log.dropped_parameters ? [{ label: logWords.dropped, text: log.dropped_parameters.join(', ') }] : []),
    ...Object.entries(metadata).map(([name, value]) => ({
      label: visibleText(name),
      text: visibleText(value),
    })),
  ];
}

/** What a request was; a value leads to the requests that share it, in the range of the list. */
export function LogFacts({ log, range }: { log: LogDetail; range: string | undefined }) {
  const { workspace } = usePlace();
  return (
    <div className={styles.facts}>
      <Identifier id={log.id} />
      <Moment at={log.created_at} as="moment" />
      {factsOf(log).map(({ label, text, filter }) => (
        <span key={label}>
          {label}{' '}
          {filter ? (
            <Link
              to="/w/$workspace/logs"
              params={{ workspace: workspace.slug }}
              search={{ filter: filtersText([{ ...filter, operator: 'is' }]), range }}
              title={logWords.sameValue}
            >
              {text}
            </Link>
          ) : (
            <b>{text}</b>
          )}
        </span>
      ))}
    </div>
  );
}
