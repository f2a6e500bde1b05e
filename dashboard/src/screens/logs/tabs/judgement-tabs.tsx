import type { LogDetail } from '../../../api/logs';
import { Moment } from '../../../parts/values/values';
import { logWords } from '../../../words/log';
import { words } from '../../../words/en';
import styles from '../log-drawer.module.css';

/** The guardrails' verdicts on request and response. */
export function GuardrailsTab({ log }: { log: LogDetail }) {
  if (log.hook_results === null) return <p className={styles.none}>{logWords.guardrails.none}</p>;
  return (
    <>
      <h3 className={styles.section}>{logWords.guardrails.title}</h3>
      <pre className={styles.code}>{JSON.stringify(log.hook_results, null, 2)}</pre>
    </>
  );
}

/** Feedback on the response, oldest first. */
export function FeedbackTab({ log }: { log: LogDetail }) {
  const { feedback: texts } = logWords;
  if (log.feedback.length === 0) return <p className={styles.none}>{texts.none}</p>;
  return (
    <>
      <table className={styles.table}>
        <thead>
          <tr>
            {[words.parts.time, texts.value, texts.weight].map((title) => (
              <th key={title} scope="col">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {log.feedback.map(({ id, created_at, value, weight }) => (
            <tr key={id}>
              <th scope="row">
                <Moment at={created_at} as="moment" />
              </th>
              <td>{value}</td>
              <td>{weight}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {log.feedback_has_more && <p className={styles.none}>{texts.more}</p>}
    </>
  );
}
