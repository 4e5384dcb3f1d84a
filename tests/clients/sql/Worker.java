import java.sql.*;
import java.util.*;

/** A worker in Java. Each event is one effect, whatever is sent twice and whoever dies in between. */
class Worker {
    record Event(String lease, byte[] body) {}

    static final String CONSUMER = System.getenv("CONSUMER");
    static final String LEASE = System.getenv().getOrDefault("LEASE", "30 seconds");
    static final boolean ONCE = System.getenv("ONCE") != null;

    public static void main(String[] args) throws Exception {
        try (Connection db = DriverManager.getConnection(System.getenv("JDBC_URL"))) {
            for (;;) {
                List<Event> events = claim(db);
                for (Event event : events) handle(db, event);
                if (events.isEmpty() && ONCE) break;
                if (events.isEmpty()) Thread.sleep(1000);
            }
        }
    }

    /** Commits by itself: the lease is durable before anything is done. */
    static List<Event> claim(Connection db) throws SQLException {
        List<Event> events = new ArrayList<>();
        try (PreparedStatement claim = db.prepareStatement("select lease, body from hookonce.claim(?, 10, ?::interval)")) {
            claim.setString(1, CONSUMER);
            claim.setString(2, LEASE);
            ResultSet rows = claim.executeQuery();
            while (rows.next()) events.add(new Event(rows.getString(1), rows.getBytes(2)));
        }
        return events;
    }

    static void handle(Connection db, Event event) throws Exception {
        step("claimed");
        db.setAutoCommit(false);
        try {
            pay(db, event.body());
            call(db, "select hookonce.done(?)", event.lease());
            step("before commit");
            db.commit();
            db.setAutoCommit(true);
        } catch (SQLException error) {
            db.rollback();
            db.setAutoCommit(true);
            if (error.getSQLState().equals("KO001")) step("lost"); // Somebody else has it: our effect is rolled back.
            else call(db, "select hookonce.fail(?, ?)", event.lease(), error.getMessage());
        }
    }

    static void pay(Connection db, byte[] body) throws SQLException {
        String sql = "update account set paid = paid + (b #>> '{data,amount}')::bigint, times = times + 1"
            + " from (select convert_from(?, 'UTF8')::jsonb as b) event where id = b #>> '{data,customer}'";
        try (PreparedStatement pay = db.prepareStatement(sql)) {
            pay.setBytes(1, body);
            pay.executeUpdate();
        }
    }

    static void call(Connection db, String sql, String... args) throws SQLException {
        try (PreparedStatement call = db.prepareStatement(sql)) {
            for (int at = 0; at < args.length; at++) call.setString(at + 1, args[at]);
            call.execute();
        }
    }

    /** For the tests: says where it stands, and waits for its input at the step that `WAIT_AT` names. */
    static void step(String name) throws Exception {
        System.out.println(name);
        if (name.equals(System.getenv("WAIT_AT"))) System.in.read();
    }
}
