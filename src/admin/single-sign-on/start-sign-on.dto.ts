import { QueryDto } from '../http/query.dto.js';
import { QueryText } from '../http/query-fields.js';
import { AN_ID } from '../dto-fields/fields.js';

/** The query of a link that starts a sign-in. Anyone can write one, so an unusable hint is ignored. */
export class StartSignOnQuery extends QueryDto {
  @QueryText('Id of the identity provider.', { required: true, example: AN_ID })
  readonly provider?: string;

  @QueryText('Page of the dashboard to open after the sign-in. Default: `/ui/`.', { default: '/ui/' })
  readonly return_to?: string;

  @QueryText('`true` makes the user authenticate again, for a step-up.', { enum: ['true'] })
  readonly reauthenticate?: string;

  @QueryText('`true` lets the user choose another account at the identity provider.', { enum: ['true'] })
  readonly select_account?: string;

  @QueryText('The address that the identity provider suggests at its sign-in.', { format: 'email' })
  readonly login_hint?: string;
}
