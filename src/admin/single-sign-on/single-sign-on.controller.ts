import {
  Body,
  Get,
  HttpCode,
  Param,
  Post,
  Query,
  Redirect,
  Req,
  Res,
  UseFilters,
  UseGuards,
} from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiProperty, ApiResponse, ApiParam } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { CallerSession, ForSession } from '../../auth/permissions/access.decorators.js';
import type { KnownSession } from '../../auth/ports.js';
import { OriginGuard } from '../../auth/strategies/origin.guard.js';
import { ClientAddresses } from '../../common/http/client-address.js';
import { IsEmailAddress } from '../../common/http/email-address.js';
import { AdminController } from '../controllers/admin-controller.js';
import { AuditedTransactions } from '../audit/audited-transactions.service.js';
import { OwnTransactions } from '../http/own-transactions.decorator.js';
import { AuditTrail } from '../audit/audit-trail.service.js';
import { Refusals } from '../openapi/decorators.js';
import { PublicController } from '../controllers/public-controller.js';
import { ApiId, ApiObject } from '../dto-fields/fields.js';
import { ListOf } from '../dto-fields/list.dto.js';
import { signInOrigin, sessionOwner, SessionsService } from '../sessions/sessions.service.js';
import { ProviderSessionsService } from '../openid-connect/provider-sessions.service.js';
import { SavedProviders } from '../openid-connect/saved-providers.service.js';
import { SignOnErrorFilter } from './sign-on-error.filter.js';
import { SignInTrialsService } from '../identity-providers/sign-in-trials.service.js';
import { SignOnFlows } from '../openid-connect/sign-on-flows.service.js';
import {
  type AnsweredTrial,
  type AuthenticatedSignOn,
  SignOnCallbackService,
} from './sign-on-callback.service.js';
import { SignOnStartService } from './sign-on-start.service.js';
import { StartSignOnQuery } from './start-sign-on.dto.js';
import { SingleSignOnService } from './single-sign-on.service.js';
import { AnyQuery } from '../http/query.dto.js';
import { Audited } from '../dto-fields/audited.js';

const TRIAL_PAGE = '/ui/sign-in?trial=done';
const FOUND = 302;

class FindProvidersDto {
  @Audited()
  @ApiProperty({ description: 'E-mail address. Upper and lower case are equal.', example: 'ada@example.com' })
  @IsEmailAddress()
  readonly email: string;
}

class FoundProviderDto {
  @ApiId()
  readonly id: string;

  @ApiProperty({ description: 'Name on the sign-in page.', example: 'Okta' })
  readonly name: string;

  @ApiProperty({
    description: 'Name of the organization to which the identity provider belongs.',
    example: 'Example',
  })
  readonly organisation_name: string;

  @ApiProperty({
    description:
      'Link that starts a sign-in at this identity provider. `return_to` may be added: a path below `/ui`.',
    example: 'https://gateway.example.com/v1/auth/single-sign-on/start?provider=…',
  })
  readonly sign_in_url: string;
}

class FoundProviderListDto extends ListOf(FoundProviderDto) {}

class SignedOutDto {
  @ApiObject('signed-out')
  readonly object = 'signed-out';

  @ApiProperty({
    description: 'Address at which the browser also signs out at the identity provider. Null if it has none.',
    type: String,
    nullable: true,
    example: 'https://login.example.com/logout',
  })
  readonly logout_url: string | null;
}

/** Public, because the user is not identified yet: it reveals domains but no users. */
@PublicController('auth/single-sign-on', 'auth')
@Refusals()
export class FindProvidersController {
  constructor(private readonly providers: SavedProviders) {}

  @Post()
  @HttpCode(200)
  @UseGuards(OriginGuard)
  @ApiOperation({
    summary: 'Find the identity providers of an e-mail address',
    description: 'Returns the identity providers of the domain of the address.',
    security: [],
  })
  @ApiOkResponse({ type: FoundProviderListDto })
  async find(@Body() { email }: FindProvidersDto): Promise<FoundProviderListDto> {
    const { start } = this.providers.addresses;
    const providers = await this.providers.forAddress(email);
    const data = providers.map(({ row: { id, name }, organization }) => ({
      ...{ id, name, organisation_name: organization, sign_in_url: start(id) },
    }));
    return { object: 'list', total: data.length, data };
  }
}

@PublicController('auth/single-sign-on/start', 'auth')
@Refusals()
export class StartSignOnController {
  constructor(private readonly signOn: SignOnStartService) {}

  @Get()
  @Redirect('', FOUND)
  @OwnTransactions()
  @UseFilters(SignOnErrorFilter)
  @ApiOperation({
    summary: 'Start a single sign-on',
    description: 'Redirects the browser to the identity provider.',
    security: [],
  })
  @ApiResponse({
    status: FOUND,
    description:
      'The address is that of the identity provider. After a refusal it is that of the sign-in page, with the error code as `error`.',
  })
  async start(
    @Query() query: StartSignOnQuery,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<{ url: string }> {
    const { url, cookie } = await this.signOn.start(query);
    reply.header('set-cookie', cookie);
    return { url };
  }
}

@PublicController('auth/single-sign-on/callback', 'auth')
@Refusals()
export class SignOnCallbackController {
  constructor(
    private readonly callbacks: SignOnCallbackService,
    private readonly signOn: SingleSignOnService,
    private readonly trials: SignInTrialsService,
    private readonly flows: SignOnFlows,
    private readonly addresses: ClientAddresses,
    private readonly transactions: AuditedTransactions,
    private readonly audit: AuditTrail,
  ) {}

  /** Other sites cannot read the response, and the state is bound to the browser. Providers redirect with `GET`. */
  @Get(':provider')
  @Redirect('', FOUND)
  @OwnTransactions()
  @UseFilters(SignOnErrorFilter)
  @ApiOperation({
    summary: 'Complete a single sign-on',
    description:
      'Receives the browser back from the identity provider, opens a session and redirects to the dashboard. Its parameters are those of OpenID Connect.',
    security: [],
  })
  @ApiResponse({ status: FOUND, description: 'The address is a page of the dashboard.' })
  @ApiParam({ name: 'provider', description: 'Id of the identity provider.' })
  async callback(
    @Param('provider') _provider: string,
    @Query() _query: AnyQuery,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<{ url: string }> {
    const received = await this.callbacks.receive(request);
    return this.transactions.run(reply, () =>
      'trial' in received ? this.finish(received) : this.open(received, request, reply),
    );
  }

  /** No session is opened, and nothing of the organization changes. */
  private async finish({ trial, outcome }: AnsweredTrial): Promise<{ url: string }> {
    this.audit.leaveOut();
    await this.trials.finish(trial, outcome);
    return { url: TRIAL_PAGE };
  }

  private async open(
    signOn: AuthenticatedSignOn,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<{ url: string }> {
    const origin = signInOrigin(request, this.addresses);
    const { cookies } = await this.signOn.open(signOn.user, signOn, origin);
    reply.header('set-cookie', [...cookies, this.flows.clearedCookie]);
    return { url: signOn.returnTo };
  }
}

@AdminController('auth/single-sign-on/sign-out')
@Refusals()
export class SignOutController {
  constructor(
    private readonly sessions: SessionsService,
    private readonly providerSessions: ProviderSessionsService,
    private readonly providers: SavedProviders,
  ) {}

  @Post()
  @HttpCode(200)
  @ForSession('sessions.delete')
  @ApiOperation({
    summary: 'Sign out, also at the identity provider',
    description: 'Ends the current session, and returns the address for a sign-out at the identity provider.',
  })
  @ApiOkResponse({ type: SignedOutDto })
  async signOut(
    @CallerSession() session: KnownSession,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<SignedOutDto> {
    const { signIn } = this.providers.addresses;
    const logout_url = await this.providerSessions.endSessionUrl(session.id, signIn);
    await this.sessions.end(sessionOwner(session), session.id);
    reply.header('set-cookie', this.sessions.clearedCookie);
    return { object: 'signed-out', logout_url };
  }
}
