import { Button } from '@mantine/core';
import type { Config, Document } from '../../api/configs';
import { JsonDiff } from '../../parts/json/json-diff';
import { configWords } from '../../words/configs';
import styles from './configs.module.css';
import { ordered } from './ordered';

const texts = configWords.conflict;

interface ConflictProps {
  /** The version that the draft is based on. */
  readonly base: Config;
  /** The saved version. */
  readonly saved: Config;
  /** Null while the text is not a JSON object. */
  readonly draft: Document | null;
  readonly onKeep: () => void;
  readonly onDiscard: () => void;
}

/** Another user saved a version while this one was edited: both changes, and the choice between them. */
export function Conflict({ base, saved, draft, onKeep, onDiscard }: ConflictProps) {
  return (
    <section className={styles.conflict} aria-label={texts.title}>
      <div role="alert">
        <h2 className={styles.heading}>{texts.title}</h2>
        <p>{texts.text(base.version, saved.version)}</p>
      </div>
      <div className={styles.both}>
        <div>
          <h3>{texts.theirs(base.version, saved.version)}</h3>
          <JsonDiff before={ordered(base.config)} after={ordered(saved.config)} />
        </div>
        {draft && (
          <div>
            <h3>{texts.yours(saved.version)}</h3>
            <JsonDiff before={ordered(saved.config)} after={ordered(draft)} />
          </div>
        )}
      </div>
      <div className={styles.conflictActions}>
        <Button onClick={onDiscard}>{texts.discard}</Button>
        <Button variant="filled" onClick={onKeep}>
          {texts.keep(saved.version)}
        </Button>
      </div>
    </section>
  );
}
