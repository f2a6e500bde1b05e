import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { IsString, Length } from 'class-validator';
import { LONGEST_PASSWORD, SHORTEST_PASSWORD } from '../../common/crypto/password-policy.js';

/** A password that the user has. */
export const TakesPassword = (): PropertyDecorator =>
  applyDecorators(
    ApiProperty({ writeOnly: true, maxLength: LONGEST_PASSWORD, example: 'purple-tractor-eats-moonlight' }),
    Length(1, LONGEST_PASSWORD),
    IsString(),
  );

/** A new password. `checkPassword` says which are good enough. */
export const TakesNewPassword = (): PropertyDecorator =>
  applyDecorators(
    ApiProperty({
      writeOnly: true,
      minLength: SHORTEST_PASSWORD,
      maxLength: LONGEST_PASSWORD,
      example: 'seven-lanterns-in-quiet-harbour',
    }),
    IsString(),
  );

export class StepUpDto {
  @TakesPassword()
  readonly password: string;
}

export class ChangePasswordDto {
  @TakesPassword()
  readonly current_password: string;

  @TakesNewPassword()
  readonly new_password: string;
}
