//! SHOW REPLICA STATUS.

use super::state::{Receiving, Replica, Trouble};
use crate::session::State;
use crate::show::{ResultSet, empty_status, number, text};
use binlog::Status;
use std::time::UNIX_EPOCH;
use types::Value;

/// The line of SHOW REPLICA STATUS, in the order of its columns; none, if the server is no replica. `status`: of the binary log.
pub fn status(state: &State<'_>, status: &Status) -> ResultSet {
    let mut made = empty_status();
    let replica: &Replica = &state.worker.shared.replica;
    let inner = replica.inner.lock();
    let Some(settings) = &inner.settings else { return made };
    let names: Vec<String> = made.columns.iter().map(|column| column.name.clone()).collect();
    let (receiver, applier): (&Trouble, &Trouble) = (&inner.receiver_trouble, &inner.applier_trouble);
    let is_applying = inner.applier_lives && inner.wants_applier;
    let switch = |is_on: bool| text(if is_on { "Yes" } else { "No" });
    let behind = || {
        if !is_applying || inner.receiving != Receiving::Yes && inner.applying == 0 {
            return Value::Null;
        }
        if inner.applying == 0 {
            return number(0u64);
        }
        let now = os::time::since_epoch().as_secs() as i64 + inner.clock_ahead;
        number((now - i64::from(inner.applying)).max(0) as u64)
    };
    let value = |name: &str| match name {
        "Replica_IO_State" => text(inner.receiver_state),
        "Source_Host" => text(settings.host.as_str()),
        "Source_User" => text(settings.user.as_str()),
        "Source_Port" => number(u64::from(settings.port)),
        "Connect_Retry" => number(settings.connect_retry),
        "Source_Log_File" => text(&*inner.read_file),
        "Read_Source_Log_Pos" => number(inner.read_position),
        "Relay_Source_Log_File" => text(&*inner.applied_file),
        "Exec_Source_Log_Pos" => number(inner.applied_position),
        "Replica_IO_Running" => text(inner.receiving.name()),
        "Replica_SQL_Running" => switch(is_applying),
        "Last_Errno" | "Last_SQL_Errno" => number(u64::from(applier.number)),
        "Last_Error" | "Last_SQL_Error" => text(applier.text.as_str()),
        "Last_IO_Errno" => number(u64::from(receiver.number)),
        "Last_IO_Error" => text(receiver.text.as_str()),
        "Last_IO_Error_Timestamp" => text(moment(receiver)),
        "Last_SQL_Error_Timestamp" => text(moment(applier)),
        "Until_Condition" => text("None"),
        "Source_SSL_Allowed" => switch(settings.ssl),
        "Source_SSL_Verify_Server_Cert" => switch(settings.ssl_verify),
        "Source_SSL_CA_File" => text(settings.ssl_ca.as_str()),
        "Seconds_Behind_Source" => behind(),
        "Relay_Log_Space" => number(Replica::queued(&inner) as u64),
        "Source_Server_Id" => number(u64::from(inner.source_id)),
        "Source_UUID" => text(inner.source_uuid.as_str()),
        "Source_Info_File" => text("replica.state"),
        "SQL_Delay" => number(settings.delay),
        "SQL_Remaining_Delay" => inner.delay_left.filter(|_| is_applying).map_or(Value::Null, number),
        "Replica_SQL_Running_State" => text(if is_applying { inner.applier_state } else { "" }),
        "Source_Retry_Count" => number(settings.retry_count),
        "Retrieved_Gtid_Set" => text(inner.retrieved.to_string()),
        "Executed_Gtid_Set" => text(status.executed.to_string()),
        "Auto_Position" => number(u64::from(settings.auto_position)),
        "Get_Source_public_key" => number(u64::from(settings.get_public_key)),
        // There is no relay log, and no part of it to skip.
        "Relay_Log_Pos" | "Skip_Counter" | "Until_Log_Pos" => number(0u64),
        _ => text(""),
    };
    made.rows.push(names.iter().map(|name| value(name)).collect());
    made
}

/// `YYMMDD hh:mm:ss`, in UTC.
fn moment(trouble: &Trouble) -> String {
    let micros =
        trouble.at.and_then(|at| at.duration_since(UNIX_EPOCH).ok()).and_then(|since| i64::try_from(since.as_micros()).ok());
    let Some(at) = micros.and_then(types::DateTime::from_utc_micros) else { return String::new() };
    let date = at.date;
    format!("{:02}{:02}{:02} {:02}:{:02}:{:02}", date.year % 100, date.month, date.day, at.hour, at.minute, at.second)
}
