import { DefaultNamingStrategy } from 'typeorm';

/** Columns have the names of the properties in snake case: `createdAt` is `created_at`. */
export class SnakeCaseNaming extends DefaultNamingStrategy {
  override columnName(propertyName: string, customName: string | undefined): string {
    return customName ?? propertyName.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  }
}
