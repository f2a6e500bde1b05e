import { Module } from '@nestjs/common';
import { AuthModule } from '../../auth/auth.module.js';
import { CryptoModule } from '../../common/crypto/crypto.module.js';
import { Passkey } from '../passkeys/passkey.entity.js';
import { RecoveryCode } from '../second-factors/recovery-code.entity.js';
import { SignInLink } from '../passwords/sign-in-link.entity.js';
import { UserCredential } from '../passwords/user-credential.entity.js';
import { User } from '../tenancy/user.entity.js';
import { SignInPolicyModule } from '../sign-in-policy/sign-in-policy.module.js';
import { TransactionRepositories } from '../../database/transaction-repositories.js';
import { SessionsModule } from '../signed-in-user/sessions.module.js';
import { PasskeysModule } from '../passkeys/passkeys.module.js';
import { PasskeySignInController, PasskeyStepUpController } from './passkey-sign-in.controller.js';
import { PasskeySignInService } from './passkey-sign-in.service.js';
import { PasswordController } from '../step-up/password.controller.js';
import { KnownDevices } from './known-devices.service.js';
import { PasskeyThrottle } from '../passkeys/passkey-throttle.guard.js';
import { PasswordsService } from '../passwords/passwords.service.js';
import { SecondFactorsController } from '../second-factors/second-factors.controller.js';
import { SetUpController } from './set-up.controller.js';
import { SetUpService, SignInLinks } from './set-up.service.js';
import { SignInThrottle } from '../sign-in-policy/sign-in-throttle.service.js';
import { SignInController } from './sign-in.controller.js';
import { SignInService } from './sign-in.service.js';
import { UserCredentialsService } from './user-credentials.service.js';

@Module({
  imports: [
    AuthModule,
    CryptoModule,
    PasskeysModule,
    SessionsModule,
    SignInPolicyModule,
    TransactionRepositories.forFeature(Passkey, RecoveryCode, SignInLink, User, UserCredential),
  ],
  controllers: [
    PasskeySignInController,
    PasskeyStepUpController,
    PasswordController,
    SecondFactorsController,
    SetUpController,
    SignInController,
  ],
  providers: [
    PasskeySignInService,
    KnownDevices,
    PasskeyThrottle,
    PasswordsService,
    SetUpService,
    SignInThrottle,
    SignInLinks,
    SignInService,
    UserCredentialsService,
  ],
  exports: [PasswordsService, SignInThrottle, SignInPolicyModule, SignInService, UserCredentialsService],
})
export class SignInModule {}
