import { type CanActivate, createParamDecorator, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { accessOf, sessionOfRequest } from '../../auth/permissions/access.js';
import { ClientAddresses } from '../../common/http/client-address.js';
import { createValidationPipe } from '../http/validation.js';
import { ChangePasswordDto, StepUpDto } from '../passwords/password.dto.js';
import { ReauthenticationService } from './reauthentication.service.js';

/** The stored hash of the password that `ReauthenticationGuard` verified. */
export const VerifiedPasswordHash = createParamDecorator((_: unknown, context: ExecutionContext): string => {
  const { verifiedPasswordHash } = accessOf(context.switchToHttp().getRequest());
  if (verifiedPasswordHash === undefined)
    throw new Error('ReauthenticationGuard must run before @VerifiedPasswordHash().');
  return verifiedPasswordHash;
});

/**
 * Requires the password of the session's user again. A guard, because it must run before `IdempotencyInterceptor`: a repeated request needs
 * the password, too.
 */
@Injectable()
export class ReauthenticationGuard implements CanActivate {
  private readonly validation = createValidationPipe();

  constructor(
    private readonly reauthentication: ReauthenticationService,
    private readonly addresses: ClientAddresses,
  ) {}

  async canActivate(context: ExecutionContext): Promise<true> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const proof = await this.proofIn(request.body);
    const address = this.addresses.of(request.raw);
    accessOf(request).verifiedPasswordHash = await this.reauthentication.verify(
      sessionOfRequest(context),
      proof,
      address,
    );
    return true;
  }

  /** Pipes run after guards, so the body is validated here, too. */
  private async proofIn(body: unknown): Promise<StepUpDto> {
    const isChange = typeof body === 'object' && body !== null && 'current_password' in body;
    const metatype = isChange ? ChangePasswordDto : StepUpDto;
    const dto = (await this.validation.transform(body ?? {}, { type: 'body', metatype })) as
      ChangePasswordDto | StepUpDto;
    return 'current_password' in dto ? { password: dto.current_password, code: dto.code } : dto;
  }
}
