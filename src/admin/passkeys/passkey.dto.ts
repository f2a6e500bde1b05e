import { ApiProperty } from '@nestjs/swagger';
import type { Passkey } from './passkey.entity.js';
import { ApiId, ApiMoment, ApiMomentOrNull, TakesName } from '../dto-fields/fields.js';
import { TakesCredential } from '../dto-fields/passkey-credential.js';
import { ListOf } from '../dto-fields/list.dto.js';

export class AddPasskeyDto {
  @TakesName('Laptop')
  readonly name: string;

  @TakesCredential()
  readonly credential: object;
}

/** Options for `navigator.credentials`: https://www.w3.org/TR/webauthn-3/#sctn-parseCreationOptionsFromJSON */
export class PasskeyOptionsDto {
  @ApiProperty({ enum: ['passkey-options'] })
  readonly object = 'passkey-options';

  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    example: { challenge: 'Zm9v', timeout: 60_000 },
  })
  readonly options: object;

  static of(options: object): PasskeyOptionsDto {
    return Object.assign(new PasskeyOptionsDto(), { options });
  }
}

export class PasskeyDto {
  @ApiProperty({ enum: ['passkey'] })
  readonly object = 'passkey';

  @ApiId()
  readonly id: string;

  @ApiProperty({ example: 'Laptop' })
  readonly name: string;

  /** Whether it is synchronized between devices. */
  @ApiProperty({ example: true })
  readonly is_backed_up: boolean;

  @ApiMoment()
  readonly created_at: string;

  @ApiMomentOrNull()
  readonly last_used_at: string | null;

  static from({ id, name, isBackedUp, createdAt, lastUsedAt }: Passkey): PasskeyDto {
    return Object.assign(new PasskeyDto(), {
      ...{ id, name, is_backed_up: isBackedUp, created_at: createdAt.toISOString() },
      last_used_at: lastUsedAt?.toISOString() ?? null,
    });
  }
}

export class PasskeyListDto extends ListOf(PasskeyDto) {
  static from(passkeys: readonly Passkey[]): PasskeyListDto {
    const data = passkeys.map((passkey) => PasskeyDto.from(passkey));
    return Object.assign(new PasskeyListDto(), { total: data.length, data });
  }
}
