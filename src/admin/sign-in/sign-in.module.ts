import { Module } from '@nestjs/common';
import { AuthModule } from '../../auth/auth.module.js';
import { CryptoModule } from '../../common/crypto/crypto.module.js';
import { TransactionRepositories } from '../../database/transaction-repositories.js';
import { Passkey } from '../passkeys/passkey.entity.js';
import { PasskeysModule } from '../passkeys/passkeys.module.js';
import { PasswordsModule } from '../passwords/passwords.module.js';
import { SignInLink } from '../passwords/sign-in-link.entity.js';
import { UserCredential } from '../passwords/user-credential.entity.js';
import { RecoveryCode } from '../second-factors/recovery-code.entity.js';
import { SecondFactorsModule } from '../second-factors/second-factors.module.js';
import { SessionsModule } from '../sessions/sessions.module.js';
import { SignInPolicyModule } from '../sign-in-policy/sign-in-policy.module.js';
import { SignedInUserModule } from '../signed-in-user/signed-in-user.module.js';
import { User } from '../tenancy/user.entity.js';
import { KnownDevices } from './known-devices.service.js';
import { PasskeySignInController } from './passkey-sign-in.controller.js';
import { PasskeySignInService } from './passkey-sign-in.service.js';
import { PasswordSignInService } from './password-sign-in.service.js';
import { SetUpController } from './set-up.controller.js';
import { SetUpService, SignInLinks } from './set-up.service.js';
import { SignInController } from './sign-in.controller.js';
import { SignInService } from './sign-in.service.js';
import { UserCredentialsService } from './user-credentials.service.js';

@Module({
  imports: [
    AuthModule,
    CryptoModule,
    PasskeysModule,
    PasswordsModule,
    SecondFactorsModule,
    SessionsModule,
    SignedInUserModule,
    SignInPolicyModule,
    TransactionRepositories.forFeature(Passkey, RecoveryCode, SignInLink, User, UserCredential),
  ],
  controllers: [PasskeySignInController, SetUpController, SignInController],
  providers: [
    KnownDevices,
    PasskeySignInService,
    PasswordSignInService,
    SetUpService,
    SignInLinks,
    SignInService,
    UserCredentialsService,
  ],
  exports: [SignInService, UserCredentialsService],
})
export class SignInModule {}
