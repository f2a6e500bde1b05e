import { Module } from '@nestjs/common';
import { AuthModule } from '../../auth/auth.module.js';
import { ProviderCatalogController } from './provider-catalog.controller.js';

@Module({ imports: [AuthModule], controllers: [ProviderCatalogController] })
export class ProviderCatalogModule {}
