import { IconArrowsSplit2, IconBolt, IconCheck, IconRefresh, IconRoute, IconX } from '@tabler/icons-react';
import type { LogDetail } from '../../../api/logs';
import { duration } from '../../../parts/format/numbers';
import { logWords } from '../../../words/log';
import { routeWords } from '../../../words/log-route';
import { Cost, exactTokens } from '../log-columns';
import styles from '../log-drawer.module.css';
import { routeStory } from '../route-story';

const ICONS = {
  route: IconRoute,
  retry: IconRefresh,
  fallback: IconArrowsSplit2,
  done: IconCheck,
  failed: IconX,
  cache: IconBolt,
} as const;

/** The four key figures shown at the top of a request's tabs. */
export function Figures({ log }: { log: LogDetail }) {
  const { facts } = logWords;
  return (
    <dl className={styles.figures}>
      <div>
        <dt>{facts.latency}</dt>
        <dd>{duration(log.duration_ms)}</dd>
      </div>
      <div>
        <dt>{facts.firstToken}</dt>
        <dd>{duration(log.first_token_ms)}</dd>
      </div>
      <div>
        <dt>{facts.tokens}</dt>
        <dd>{exactTokens(log)}</dd>
      </div>
      <div>
        <dt>{facts.cost}</dt>
        <dd>
          <Cost log={log} />
        </dd>
      </div>
    </dl>
  );
}

/** The route in sentences. */
export function RouteTab({ log }: { log: LogDetail }) {
  return (
    <>
      <Figures log={log} />
      <h3 className={styles.section}>{routeWords.title}</h3>
      <ol className={styles.story}>
        {routeStory(log).map(({ icon, tone, title, text, atMs }, at) => {
          const Icon = ICONS[icon];
          return (
            <li key={at}>
              <span className={styles.storyIcon} data-tone={tone}>
                <Icon size={14} aria-hidden />
              </span>
              <strong>{title}</strong>
              <span className={styles.at}>+{duration(atMs)}</span>
              <p>{text}</p>
            </li>
          );
        })}
      </ol>
    </>
  );
}
