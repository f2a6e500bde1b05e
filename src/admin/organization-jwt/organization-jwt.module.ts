import { Module } from '@nestjs/common';
import { AuthModule } from '../../auth/auth.module.js';
import { UsersModule } from '../users/users.module.js';
import { TransactionRepositories } from '../../database/transaction-repositories.js';
import { OrganizationJwtController } from './organization-jwt.controller.js';
import { OrganizationJwtService } from './organization-jwt.service.js';
import { OrganizationJwt } from './organization-jwt.entity.js';

@Module({
  imports: [AuthModule, UsersModule, TransactionRepositories.forFeature(OrganizationJwt)],
  controllers: [OrganizationJwtController],
  providers: [OrganizationJwtService],
})
export class OrganizationJwtModule {}
