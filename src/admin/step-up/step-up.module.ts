import { Module } from '@nestjs/common';
import { AuthModule } from '../../auth/auth.module.js';
import { PasskeysModule } from '../passkeys/passkeys.module.js';
import { PasswordsModule } from '../passwords/passwords.module.js';
import { SecondFactorsModule } from '../second-factors/second-factors.module.js';
import { SessionsModule } from '../sessions/sessions.module.js';
import { SignInPolicyModule } from '../sign-in-policy/sign-in-policy.module.js';
import { SignedInUserModule } from '../signed-in-user/signed-in-user.module.js';
import { PasskeyStepUpController } from './passkey-step-up.controller.js';
import { PasswordController } from './password.controller.js';
import { ReauthenticationService } from './reauthentication.service.js';

/** Users of a session prove again who they are. */
@Module({
  imports: [
    AuthModule,
    PasskeysModule,
    PasswordsModule,
    SecondFactorsModule,
    SessionsModule,
    SignedInUserModule,
    SignInPolicyModule,
  ],
  controllers: [PasskeyStepUpController, PasswordController],
  providers: [ReauthenticationService],
})
export class StepUpModule {}
