import { Body, Get, Put } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiProperty } from '@nestjs/swagger';
import { ArrayMaxSize, ArrayUnique, IsArray, IsBoolean, IsUUID } from 'class-validator';
import { Caller, RequireScope } from '../../auth/permissions/access.decorators.js';
import { RequireStepUp } from '../../auth/permissions/step-up.guard.js';
import type { Principal } from '../../auth/principal.js';
import { AdminController } from '../controllers/admin-controller.js';
import { Refusals } from '../openapi/decorators.js';
import { uuidV7 } from '../../common/ids/uuid-v7.js';
import { AN_ID, ApiId, ApiObject } from '../dto-fields/fields.js';
import { SavedProviders } from '../openid-connect/saved-providers.service.js';
import { type SignInSettings, SignInSettingsService } from './sign-in-settings.service.js';
import { Audited } from '../dto-fields/audited.js';

const MOST_BREAK_GLASS_USERS = 10;

class SetSignInSettingsDto {
  @Audited()
  @ApiProperty({
    description:
      'Whether users must sign in by single sign-on. Passwords and passkeys then work only for break-glass users. Default: false.',
    example: false,
  })
  @IsBoolean()
  readonly single_sign_on_required: boolean;

  @Audited()
  @ApiProperty({
    description:
      'Ids of owners who may still sign in by every method when single sign-on is required, at most 10.',
    type: [String],
    format: 'uuid',
    example: [],
    maxItems: MOST_BREAK_GLASS_USERS,
  })
  @IsUUID(undefined, { each: true })
  @ArrayUnique()
  @ArrayMaxSize(MOST_BREAK_GLASS_USERS)
  @IsArray()
  readonly break_glass_user_ids: string[];
}

class SignInSettingsDto {
  @ApiObject('sign-in-settings')
  readonly object = 'sign-in-settings';

  @ApiProperty({
    description:
      'Whether users must sign in by single sign-on. Passwords and passkeys then work only for break-glass users. Default: false.',
    example: true,
  })
  readonly single_sign_on_required: boolean;

  @ApiProperty({
    description:
      'Ids of owners who may still sign in by every method when single sign-on is required, at most 10.',
    type: [String],
    example: [AN_ID],
  })
  readonly break_glass_user_ids: readonly string[];

  @ApiId(
    'New id for the next identity provider. Send it as `id` when you try and save it. Nothing is stored.',
  )
  readonly reserved_identity_provider_id: string;

  @ApiProperty({
    description: 'Redirect URI of the reserved id, to register at the identity provider.',
    example: `https://gateway.example.com/v1/auth/single-sign-on/callback/${AN_ID}`,
  })
  readonly redirect_uri: string;

  @ApiProperty({
    description: 'Back-channel logout URI to register at the identity provider.',
    example: 'https://gateway.example.com/v1/auth/single-sign-on/back-channel-logout',
  })
  readonly back_channel_logout_uri: string;
}

@AdminController('admin/organisation/sign-in', 'single-sign-on')
@Refusals()
export class SignInSettingsController {
  constructor(
    private readonly settings: SignInSettingsService,
    private readonly providers: SavedProviders,
  ) {}

  @Get()
  @RequireScope('organisation_settings.read', 'administrators')
  @ApiOperation({
    summary: 'Read the sign-in settings',
    description: 'Returns whether single sign-on is required, and the users who are exempt.',
  })
  @ApiOkResponse({ type: SignInSettingsDto })
  async get(@Caller() { organizationId }: Principal): Promise<SignInSettingsDto> {
    return this.shown(await this.settings.get(organizationId));
  }

  @Put()
  @RequireScope('organisation_settings.update', 'administrators')
  @RequireStepUp()
  @ApiOperation({
    summary: 'Change the sign-in settings',
    description: 'Requires single sign-on, or allows the other ways again. Only owners may.',
  })
  @ApiOkResponse({ type: SignInSettingsDto })
  async set(@Caller() caller: Principal, @Body() dto: SetSignInSettingsDto): Promise<SignInSettingsDto> {
    return this.shown(await this.settings.set(caller, dto));
  }

  private shown(settings: SignInSettings): SignInSettingsDto {
    const { callback, logout } = this.providers.addresses;
    const id = uuidV7(Date.now());
    return {
      ...{ object: 'sign-in-settings', ...settings, reserved_identity_provider_id: id },
      ...{ redirect_uri: callback(id), back_channel_logout_uri: logout },
    };
  }
}
