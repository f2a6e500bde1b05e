import { useQuery } from '@tanstack/react-query';
import { type Config, configUsageQuery } from '../../api/configs';
import { loadStateOf } from '../../api/load-state';
import { exact, NONE } from '../../parts/format/numbers';
import { Loadable } from '../../parts/states/states';
import { configWords } from '../../words/configs';
import styles from './configs.module.css';

const { usage: texts } = configWords;

/** The users of the config, which prevent removing it. */
export function UsageTab({ config }: { config: Config }) {
  const query = useQuery(configUsageQuery(config.slug));
  return (
    <Loadable state={loadStateOf(query, 'configs.read')} lines={3}>
      {() =>
        query.data && (
          <>
            <dl className={styles.usage}>
              <dt>{texts.apiKeys}</dt>
              <dd>{exact(query.data.api_keys)}</dd>
              <dt>{texts.userKeys}</dt>
              <dd>{query.data.user_keys_of ?? NONE}</dd>
              <dt>{texts.isDefault}</dt>
              <dd>{query.data.is_default ? texts.yes : texts.no}</dd>
            </dl>
            <p className={styles.muted}>{texts.note}</p>
          </>
        )
      }
    </Loadable>
  );
}
