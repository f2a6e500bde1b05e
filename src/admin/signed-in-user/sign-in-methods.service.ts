import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { Passkey } from '../passkeys/passkey.entity.js';
import type { SignInMethodsDto } from '../dto-fields/session.dto.js';
import { SecondFactorsService } from '../second-factors/second-factors.service.js';
import type { SessionOwner } from '../sessions/sessions.service.js';

/** The sign-in methods of a user. */
@Injectable()
export class SignInMethodsService {
  constructor(
    @InjectRepository(Passkey) private readonly passkeys: Repository<Passkey>,
    private readonly factors: SecondFactorsService,
  ) {}

  async of(user: SessionOwner): Promise<SignInMethodsDto> {
    const { hasPassword, hasTotp, recoveryCodesLeft } = await this.factors.status(user);
    return {
      password: hasPassword,
      totp: hasTotp,
      recovery_codes_left: recoveryCodesLeft,
      passkeys: await this.passkeys.countBy({ organizationId: user.organizationId, userId: user.id }),
    };
  }
}
