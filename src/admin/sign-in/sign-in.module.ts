import { Module } from '@nestjs/common';
import { AuthModule } from '../../auth/auth.module.js';
import { CryptoModule } from '../../common/crypto/crypto.module.js';
import { SignInLink } from './sign-in-link.entity.js';
import { SignInPolicy } from './sign-in-policy.entity.js';
import { UserCredential } from './user-credential.entity.js';
import { User } from '../tenancy/user.entity.js';
import { TransactionRepositories } from '../../database/transaction-repositories.js';
import { SessionsModule } from './sessions.module.js';
import { PasskeysModule } from '../passkeys/passkeys.module.js';
import { PasskeySignInController, PasskeyStepUpController } from './passkey-sign-in.controller.js';
import { PasskeySignInService } from './passkey-sign-in.service.js';
import { PasswordController } from './password.controller.js';
import { PasswordsService } from './passwords.service.js';
import { SecondFactorsController } from './second-factors.controller.js';
import { SetUpController } from './set-up.controller.js';
import { SetUpService, SignInLinks } from './set-up.service.js';
import { SignInBrakes } from './sign-in-brakes.service.js';
import { SignInController } from './sign-in.controller.js';
import { SignInPolicyService } from './sign-in-policy.service.js';
import { SignInService } from './sign-in.service.js';

@Module({
  imports: [
    AuthModule,
    CryptoModule,
    PasskeysModule,
    SessionsModule,
    TransactionRepositories.forFeature(SignInLink, SignInPolicy, User, UserCredential),
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
    PasswordsService,
    SetUpService,
    SignInBrakes,
    SignInLinks,
    SignInPolicyService,
    SignInService,
  ],
  exports: [PasswordsService, SignInBrakes, SignInPolicyService, SignInService],
})
export class SignInModule {}
