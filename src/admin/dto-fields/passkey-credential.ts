import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { IsObject } from 'class-validator';

/** The browser's response, as written by `PublicKeyCredential.toJSON`: https://www.w3.org/TR/webauthn-3/#dom-publickeycredential-tojson */
export const TakesCredential = (): PropertyDecorator =>
  applyDecorators(
    ApiProperty({
      description: 'Result of `navigator.credentials` in the browser (WebAuthn, JSON form).',
      type: 'object',
      additionalProperties: true,
      example: { id: 'Zm9v', rawId: 'Zm9v', type: 'public-key', response: {}, clientExtensionResults: {} },
    }),
    IsObject(),
  );

export class ShowPasskeyDto {
  @TakesCredential()
  readonly credential: object;
}
