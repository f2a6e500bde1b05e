import { applyDecorators } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsInt, Max, Min } from 'class-validator';
import { OrNull } from '../../common/http/validators.js';

/** Ten years. Data that must be kept for longer can be exported. */
const MOST_DAYS = 3_650;
const DAYS = { type: 'integer', nullable: true, minimum: 1, maximum: MOST_DAYS, example: 30 } as const;

/** A number of days, or null for the next level's setting. */
export const TakesDays = (description: string): PropertyDecorator =>
  applyDecorators(ApiPropertyOptional({ ...DAYS, description }), OrNull(), IsInt(), Min(1), Max(MOST_DAYS));

export const KeepsForDays = (description: string): PropertyDecorator => ApiProperty({ ...DAYS, description });
