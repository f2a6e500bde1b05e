import passport from 'passport';

type VerifyCallback = (error: unknown, user?: object | null) => void;
type Verify = (request: object, done: VerifyCallback) => void;

/**
 * The base of our Passport strategies: passes the request to `validate`, which returns the caller, null for a request without a credential
 * of its kind, or rejects with a refusal. https://www.passportjs.org/concepts/authentication/strategies/
 */
export class CredentialStrategy extends passport.Strategy {
  constructor(private readonly verify: Verify) {
    super();
  }

  override authenticate(request: object): void {
    this.verify(request, (error, user) => {
      if (error) this.error(error);
      else if (user) this.success(user);
      else this.fail(undefined);
    });
  }
}
