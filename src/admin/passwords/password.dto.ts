import { applyDecorators } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsString, Length } from 'class-validator';
import { LONGEST_PASSWORD, SHORTEST_PASSWORD } from './password-policy.js';
import { IfGiven } from '../../common/http/validators.js';

const LONGEST_CODE = 40;

/** An existing password. */
export const TakesPassword = (description: string): PropertyDecorator =>
  applyDecorators(
    ApiProperty({
      description,
      writeOnly: true,
      maxLength: LONGEST_PASSWORD,
      example: 'purple-tractor-eats-moonlight',
    }),
    Length(1, LONGEST_PASSWORD),
    IsString(),
  );

/** A new password. `checkPassword` defines the requirements. */
export const TakesNewPassword = (): PropertyDecorator =>
  applyDecorators(
    ApiProperty({
      description: 'The new password, 12 to 200 characters. Common passwords are refused.',
      writeOnly: true,
      minLength: SHORTEST_PASSWORD,
      maxLength: LONGEST_PASSWORD,
      example: 'seven-lanterns-in-quiet-harbour',
    }),
    IsString(),
  );

/** For a user with an authenticator app: its code, or a recovery code. */
export const MayTakeCode = (): PropertyDecorator =>
  applyDecorators(
    ApiPropertyOptional({
      description:
        'Six-digit code of the authenticator app, or a recovery code. Needed if the user has set one up.',
      writeOnly: true,
      maxLength: LONGEST_CODE,
      example: '123456',
    }),
    IfGiven(),
    Length(1, LONGEST_CODE),
    IsString(),
  );

export class StepUpDto {
  @TakesPassword('Password of the user. Needed if the user has one.')
  readonly password: string;

  @MayTakeCode()
  readonly code?: string;
}

export class ChangePasswordDto {
  @TakesPassword('The current password.')
  readonly current_password: string;

  @TakesNewPassword()
  readonly new_password: string;

  @MayTakeCode()
  readonly code?: string;
}
