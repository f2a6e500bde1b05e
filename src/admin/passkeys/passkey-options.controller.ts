import { HttpCode, Post } from '@nestjs/common';
import { ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import { Refusals } from '../openapi/decorators.js';
import { PublicController } from '../controllers/public-controller.js';
import { PasskeyOptionsDto } from './passkey.dto.js';
import { PasskeysService } from './passkeys.service.js';

/** Public, because the user is not identified yet: it reveals nothing about users. */
@PublicController('auth/passkeys/request-options', 'auth')
@Refusals()
export class PasskeyOptionsController {
  constructor(private readonly passkeys: PasskeysService) {}

  @Post()
  @HttpCode(200)
  @ApiOperation({
    summary: 'Get the options for signing in with a passkey',
    description: 'Returns the options for `navigator.credentials.get` in the browser.',
    security: [],
  })
  @ApiOkResponse({ type: PasskeyOptionsDto })
  async requestOptions(): Promise<PasskeyOptionsDto> {
    return PasskeyOptionsDto.of(await this.passkeys.requestOptions());
  }
}
