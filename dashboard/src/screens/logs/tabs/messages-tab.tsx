import type { LogDetail } from '../../../api/logs';
import { requestMessages, responseMessages } from '../../../parts/messages/message';
import { MessageView } from '../../../parts/messages/message-view';
import { messageWords } from '../../../words/messages';
import styles from '../log-drawer.module.css';

/** The messages of the exchange with their roles, in any dialect. */
export function MessagesTab({ log }: { log: LogDetail }) {
  const messages = [...requestMessages(log.request.body), ...responseMessages(log.response.body)];
  if (messages.length === 0) return <p className={styles.none}>{messageWords.none}</p>;
  return <MessageView messages={messages} />;
}
