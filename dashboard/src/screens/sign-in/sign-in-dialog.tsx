import { Dialog } from '../../parts/overlay/dialog';
import { signInWords } from '../../words/sign-in';
import { SignInForm } from './sign-in-form';
import dialog from '../../parts/overlay/dialog-form.module.css';

const texts = signInWords.again;

interface SignInDialogProps {
  readonly email: string;
  readonly onSignedIn: () => void;
  /** Gives up the page. */
  readonly onClose: () => void;
}

/** Signs in again over the page whose session has ended. */
export function SignInDialog({ email, onSignedIn, onClose }: SignInDialogProps) {
  return (
    <Dialog title={texts.title} zIndex={400} closeOnClickOutside={false} onClose={onClose}>
      <div className={dialog.form}>
        <p className={dialog.text}>{texts.text}</p>
        <SignInForm email={email} returnTo={location.pathname + location.search} onSignedIn={onSignedIn} />
      </div>
    </Dialog>
  );
}
