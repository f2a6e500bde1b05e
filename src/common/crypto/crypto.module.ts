import { Module } from '@nestjs/common';
import type { Settings } from '../settings/settings.js';
import { SETTINGS } from '../settings/settings.module.js';
import { ApiKeyIssuer } from './api-key-issuer.js';
import { SecretBox } from './envelope.js';
import { ExportLinks } from './export-links.js';
import { InviteTokens } from './invite-tokens.js';
import { OpaqueTokens } from './opaque-tokens.js';
import type { Secret } from '../settings/secret.js';

/** Cryptographic services with the two keys of the installation, which the launcher has created by then. */
@Module({
  providers: [
    {
      provide: SecretBox,
      inject: [SETTINGS],
      useFactory: ({ masterKey, nextMasterKey }: Settings) =>
        new SecretBox(required(masterKey, 'GATEHOUSE_MASTER_KEY'), nextMasterKey),
    },
    {
      provide: ApiKeyIssuer,
      inject: [SETTINGS],
      useFactory: ({ keyPepper }: Settings) => new ApiKeyIssuer(required(keyPepper, 'GATEHOUSE_KEY_PEPPER')),
    },
    {
      provide: InviteTokens,
      inject: [SETTINGS],
      useFactory: ({ keyPepper }: Settings) => new InviteTokens(required(keyPepper, 'GATEHOUSE_KEY_PEPPER')),
    },
    {
      provide: ExportLinks,
      inject: [SETTINGS],
      useFactory: ({ keyPepper }: Settings) => new ExportLinks(required(keyPepper, 'GATEHOUSE_KEY_PEPPER')),
    },
    {
      provide: OpaqueTokens,
      inject: [SETTINGS],
      useFactory: ({ keyPepper }: Settings) => new OpaqueTokens(required(keyPepper, 'GATEHOUSE_KEY_PEPPER')),
    },
  ],
  exports: [SecretBox, ApiKeyIssuer, InviteTokens, ExportLinks, OpaqueTokens],
})
export class CryptoModule {}

function required(secret: Secret | undefined, name: string): Secret {
  if (!secret) throw new Error(`${name} is missing.`);
  return secret;
}
