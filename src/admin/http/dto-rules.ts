import { getMetadataStorage } from 'class-validator';
import type { ValidationMetadata } from 'class-validator/types/metadata/ValidationMetadata.js';

/** The validation rules of a DTO. */
export const validationRulesOf = (dto: object | undefined): readonly ValidationMetadata[] =>
  dto ? getMetadataStorage().getTargetValidationMetadatas(dto.constructor, '', false, false) : [];

/** The fields with rules in a DTO, which are all of its fields. */
export const fieldsOf = (dto: object | undefined): readonly string[] => [
  ...new Set(validationRulesOf(dto).map(({ propertyName }) => propertyName)),
];
