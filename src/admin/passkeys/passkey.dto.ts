import { ApiProperty } from '@nestjs/swagger';
import type { Passkey } from './passkey.entity.js';
import { ApiId, ApiMomentOrNull, ApiObject, ApiCreatedAt, TakesName } from '../dto-fields/fields.js';
import { TakesCredential } from '../dto-fields/passkey-credential.js';
import { ListOf } from '../dto-fields/list.dto.js';
import { Audited } from '../dto-fields/audited.js';

export class AddPasskeyDto {
  @Audited()
  @TakesName('Laptop')
  readonly name: string;

  @TakesCredential()
  readonly credential: object;
}

/** Options for `navigator.credentials`: https://www.w3.org/TR/webauthn-3/#sctn-parseCreationOptionsFromJSON */
export class PasskeyOptionsDto {
  @ApiObject('passkey-options')
  readonly object: 'passkey-options';

  @ApiProperty({
    description: 'Options for `navigator.credentials` in the browser (WebAuthn, JSON form).',
    type: 'object',
    additionalProperties: true,
    example: { challenge: 'Zm9v', timeout: 60_000 },
  })
  readonly options: object;

  static of(options: object): PasskeyOptionsDto {
    return { object: 'passkey-options', options };
  }
}

export class PasskeyDto {
  @ApiObject('passkey')
  readonly object: 'passkey';

  @ApiId()
  readonly id: string;

  @ApiProperty({ description: 'Display name. It need not be unique.', example: 'Laptop' })
  readonly name: string;

  @ApiProperty({ description: 'Whether the passkey is synchronized between devices.', example: true })
  readonly is_backed_up: boolean;

  @ApiCreatedAt()
  readonly created_at: string;

  @ApiMomentOrNull('Time of the last sign-in with this passkey. Null if there was none.')
  readonly last_used_at: string | null;

  static from({ id, name, isBackedUp, createdAt, lastUsedAt }: Passkey): PasskeyDto {
    return {
      object: 'passkey',
      ...{ id, name, is_backed_up: isBackedUp, created_at: createdAt.toISOString() },
      last_used_at: lastUsedAt?.toISOString() ?? null,
    };
  }
}

export class PasskeyListDto extends ListOf(PasskeyDto) {
  static from(passkeys: readonly Passkey[]): PasskeyListDto {
    const data = passkeys.map((passkey) => PasskeyDto.from(passkey));
    return { object: 'list', total: data.length, data };
  }
}
