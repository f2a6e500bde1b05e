import { Global, Module } from '@nestjs/common';
import { AuditInterceptor } from './audit.interceptor.js';
import { AuditTrail } from './audit-trail.service.js';
import { RefusalRecordingFilter } from './refusal-recording.filter.js';

/** The audit trail, for every administrative controller and every service behind one. */
@Global()
@Module({
  providers: [AuditTrail, AuditInterceptor, RefusalRecordingFilter],
  exports: [AuditTrail, AuditInterceptor, RefusalRecordingFilter],
})
export class AuditModule {}
