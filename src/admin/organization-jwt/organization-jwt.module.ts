import { Module } from '@nestjs/common';
import { AuthModule } from '../../auth/auth.module.js';
import { OrganizationJwtController } from './organization-jwt.controller.js';
import { OrganizationJwtService } from './organization-jwt.service.js';

@Module({
  imports: [AuthModule],
  controllers: [OrganizationJwtController],
  providers: [OrganizationJwtService],
})
export class OrganizationJwtModule {}
