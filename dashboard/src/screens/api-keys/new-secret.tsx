import { useList } from '../../api/lists';
import { commandOf } from '../../api/try-key';
import { virtualKeysQuery } from '../../api/virtual-keys';
import { SecretOnce } from '../../parts/overlay/secret-once';
import { usePlace } from '../../session/session';

interface NewSecretProps {
  readonly secret: string;
  readonly scopes: readonly string[];
  readonly onDone: () => void;
}

/** The secret of a key, with a command that tries it. */
export function NewSecret({ secret, scopes, onDone }: NewSecretProps) {
  const { workspace } = usePlace();
  const { rows } = useList(virtualKeysQuery(workspace.slug), 'virtual_keys.list');
  const command = commandOf({ secret, scopes, virtualKey: rows[0], workspace: workspace.slug });
  return <SecretOnce secret={secret} command={command} onDone={onDone} />;
}
