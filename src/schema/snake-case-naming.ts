import { DefaultNamingStrategy } from 'typeorm';

/** Columns bear the names of the properties, written as databases write them: `createdAt` is `created_at`. */
export class SnakeCaseNaming extends DefaultNamingStrategy {
  override columnName(propertyName: string, customName: string | undefined): string {
    return customName ?? propertyName.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  }
}
