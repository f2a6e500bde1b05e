import { Module } from '@nestjs/common';
import { AuthModule } from '../../auth/auth.module.js';
import { CryptoModule } from '../../common/crypto/crypto.module.js';
import { Passkey, UsedPasskeyChallenge } from './passkey.entity.js';
import { TransactionRepositories } from '../../database/transaction-repositories.js';
import { SignInPolicyModule } from '../sign-in-policy/sign-in-policy.module.js';
import { User } from '../tenancy/user.entity.js';
import { PasskeyChallenges } from './passkey-challenges.service.js';
import { PasskeyOptionsController } from './passkey-options.controller.js';
import { PasskeyThrottle } from './passkey-throttle.guard.js';
import { PasskeysController } from './passkeys.controller.js';
import { PasskeysService } from './passkeys.service.js';

@Module({
  imports: [
    AuthModule,
    CryptoModule,
    SignInPolicyModule,
    TransactionRepositories.forFeature(Passkey, UsedPasskeyChallenge, User),
  ],
  controllers: [PasskeyOptionsController, PasskeysController],
  providers: [PasskeyChallenges, PasskeysService, PasskeyThrottle],
  exports: [PasskeysService, PasskeyThrottle],
})
export class PasskeysModule {}
