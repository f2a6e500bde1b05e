import { Button } from '@mantine/core';
import { useState } from 'react';
import { messageWords } from '../../words/messages';
import { exact } from '../format/numbers';
import { visibleText } from '../format/visible-text';
import type { Message, MessagePart } from './message';
import styles from './message-view.module.css';

/** Messages in order, as text. Text from models and clients is never rendered as markup. */
export function MessageView({ messages }: { messages: readonly Message[] }) {
  return (
    <ol className={styles.messages}>
      {messages.map(({ role, parts }, at) => (
        <li key={at} className={styles.message} data-role={role}>
          <h3>{messageWords.roles[role] ?? visibleText(role)}</h3>
          {parts.map((part, of) => (
            <Part key={of} part={part} />
          ))}
        </li>
      ))}
    </ol>
  );
}

function Part({ part }: { part: MessagePart }) {
  switch (part.kind) {
    case 'text':
      return <Folded text={part.text} />;
    case 'reasoning':
      return (
        <details className={styles.details}>
          <summary>{messageWords.reasoning}</summary>
          <Folded text={part.text} />
        </details>
      );
    case 'toolCall':
      return (
        <div className={styles.call}>
          <strong>{messageWords.toolCall(visibleText(part.name))}</strong>
          <pre>{visibleText(part.text)}</pre>
        </div>
      );
    case 'image':
      return part.source === null ? (
        <p className={styles.none}>{messageWords.image}</p>
      ) : (
        <img className={styles.image} src={part.source} alt={messageWords.image} />
      );
    case 'other':
      return (
        <details className={styles.details}>
          <summary>{messageWords.other(visibleText(part.type))}</summary>
          <pre>{visibleText(part.text)}</pre>
        </details>
      );
  }
}

/** Longer texts show their beginning first: a page of a million characters would freeze the browser. */
const SHOWN = 2_000;

function Folded({ text }: { text: string }) {
  const [isWhole, setWhole] = useState(false);
  const isLong = text.length > SHOWN;
  return (
    <div className={styles.text}>
      {visibleText(isLong && !isWhole ? `${text.slice(0, SHOWN)}…` : text)}
      {isLong && (
        <Button variant="subtle" onClick={() => setWhole(!isWhole)}>
          {isWhole ? messageWords.showLess : messageWords.showAll(exact(text.length))}
        </Button>
      )}
    </div>
  );
}
