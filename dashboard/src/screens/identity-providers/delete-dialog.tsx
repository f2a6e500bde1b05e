import { useQueryClient } from '@tanstack/react-query';
import {
  deleteIdentityProvider,
  IDENTITY_PROVIDERS,
  type IdentityProvider,
} from '../../api/identity-providers';
import { useMutation } from '../../api/use-mutation';
import { shownError } from '../../api/load-state';
import { ConfirmByName } from '../../parts/overlay/confirm-by-name';
import { identityProviderWords } from '../../words/identity-providers';

const texts = identityProviderWords;

export function DeleteDialog({ provider, onClose }: { provider: IdentityProvider; onClose: () => void }) {
  const queryClient = useQueryClient();
  const removal = useMutation({
    mutationFn: () => deleteIdentityProvider(provider.id),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: [IDENTITY_PROVIDERS] });
      onClose();
    },
  });
  return (
    <ConfirmByName
      title={texts.removeTitle(provider.name)}
      text={texts.removeText}
      name={provider.name}
      action={texts.remove}
      isRunning={removal.isPending}
      error={removal.isError ? shownError(removal.error) : null}
      onConfirm={() => removal.mutate()}
      onClose={onClose}
    />
  );
}
